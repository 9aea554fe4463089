package explore_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fsward/explore"
)

// An ordered checker expects of a toy what it does not promise: that keys reach the disk in the
// order in which they were put, without a sync.
type ordered struct{ explore.Plain }

func (ordered) Mutate(e *explore.Env) error {
	for _, key := range []string{"0", "1"} {
		if _, err := e.Run("toy", "put", key, "7"); err != nil {
			return err
		}
	}
	return e.CheckCrashesNow(nil)
}

func (ordered) Check(e *explore.Env, _ explore.Crash) error {
	var values [2]string
	for i, key := range []string{"0", "1"} {
		exit, err := e.Run("toy", "get", key)
		if err != nil {
			return err
		}
		values[i] = string(exit.Stdout)
	}
	if values[1] == "7" && values[0] != "7" {
		return explore.Failuref("out of order", "key 1 has %s, and key 0 %s", values[1], values[0])
	}
	return nil
}

func toyInOrder(t *testing.T, from explore.CrashSource) explore.Config {
	t.Helper()
	cfg := toy(t, "", 2, 1)
	cfg.Stack.Checker, cfg.CrashFrom, cfg.Depth = ordered{}, from, 1
	ignoreShell(cfg)
	return cfg
}

// TestCrashesFromWriteSet checks that a failure that needs early blocks shows only if crash states
// are formed from the write set. It replays.
func TestCrashesFromWriteSet(t *testing.T) {
	ctx := context.Background()
	got, err := explore.Run(ctx, toyInOrder(t, explore.FromWrites))
	if err != nil || !got.Complete || len(got.Errors) != 0 || got.CrashStates != 1 || got.Early != 0 {
		t.Errorf("from writes: %+v, %v", got, err)
	}
	cfg := toyInOrder(t, explore.FromWriteSet)
	got, err = explore.Run(ctx, cfg)
	if err != nil || !got.Complete || len(got.Errors) != 1 || got.Early == 0 {
		t.Fatalf("from the write set: %+v, %v", got, err)
	}
	e := readError(t, cfg, got, 0)
	if e.Kind != "out of order" {
		t.Fatalf("found %q", e.Kind)
	}
	want := []explore.EarlyBlock{{Disk: 0, Sector: 2, Bytes: 512}}
	if !slices.Equal(e.Crash.Early, want) || len(e.Crash.Missing) != 0 {
		t.Errorf("the crash is %+v", e.Crash)
	}
	text, err := os.ReadFile(filepath.Join(cfg.Dir, e.Dir, "what.txt"))
	if err != nil || !strings.Contains(string(text), "512 bytes at sector 2 of disk 0") {
		t.Errorf("what.txt does not name the early block: %s, %v", text, err)
	}
	for range 3 {
		if kind := replay(t, toyInOrder(t, explore.FromWriteSet), e); kind != e.Kind {
			t.Errorf("replay shows %q", kind)
		}
	}
	if kind := replay(t, toyInOrder(t, explore.FromWrites), e); kind != "" {
		t.Errorf("replay from the writes alone shows %q", kind)
	}
}

// TestWriteSetIsExhaustive checks that after three keys were put in three steps, each subset of
// them can be on the disk, with each method to reach states.
func TestWriteSetIsExhaustive(t *testing.T) {
	for _, restore := range explore.Restorings() {
		cfg := toy(t, "", 3, 1)
		ignoreShell(cfg)
		cfg.Stack.Checker, cfg.CrashFrom = &unsynced{}, explore.FromWriteSet
		cfg.Restore, cfg.Depth = restore, 3
		got, err := explore.Run(context.Background(), cfg)
		if err != nil || len(got.Errors) != 0 || !got.Complete || got.Sampled != 0 {
			t.Fatalf("%s: %+v, %v", restore, got, err)
		}
		if got.CrashStates != 1<<3 || got.Early != 1<<3-1 || got.Possible != 2+4+8 {
			t.Errorf("%s: %+v, want eight crash states", restore, got.Totals)
		}
	}
}

// An unsynced checker puts another key in each step.
type unsynced struct {
	explore.Plain
	keys int
}

func (c *unsynced) Init(*explore.Env) error { c.keys = 0; return nil }

func (c *unsynced) Mutate(e *explore.Env) error {
	_, err := e.Run("toy", "put", string(rune('0'+c.keys)), "7")
	c.keys++
	if err == nil {
		err = e.CheckCrashesNow(nil)
	}
	return err
}

func (*unsynced) Check(*explore.Env, explore.Crash) error { return nil }

// TestWriteSetOfMachine checks that Run returns an error if the machine does not log the write set,
// or if the source is unknown.
func TestWriteSetOfMachine(t *testing.T) {
	cfg := toyInOrder(t, explore.FromWriteSet)
	cfg.System = struct{ explore.System }{cfg.System}
	_, err := explore.Run(context.Background(), cfg)
	if err == nil || !strings.Contains(err.Error(), "write set") {
		t.Error(err)
	}
	cfg.CrashFrom = "bios"
	_, err = explore.Run(context.Background(), cfg)
	if err == nil || !strings.Contains(err.Error(), "bios") {
		t.Error(err)
	}
}
