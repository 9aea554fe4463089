package explore_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/exploretest"
)

// ordered is a checker that expects of a toy what nobody promises: that keys that were put one after the other reach the disk so, without
// being synced.
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
	var has [2]string
	for i, key := range []string{"0", "1"} {
		exit, err := e.Run("toy", "get", key)
		if err != nil {
			return err
		}
		has[i] = string(exit.Stdout)
	}
	if has[1] == "7" && has[0] != "7" {
		return explore.Failuref("out of order", "key 1 has %s, and key 0 %s", has[1], has[0])
	}
	return nil
}

func toyInOrder(t *testing.T, from explore.CrashSource) explore.Config {
	t.Helper()
	cfg := toy(t, "", 2, 1)
	cfg.Stack.Checker, cfg.CrashFrom, cfg.Depth = ordered{}, from, 1
	cfg.System.(*exploretest.System).Programs["sh"] = func(*exploretest.System, agent.Command) (agent.Exit, error) {
		return agent.Exit{}, nil // the module is loaded
	}
	return cfg
}

// What the kernel holds and has not written shows where crash disks are formed from the write set, and nowhere else; its folder shows it again.
func TestCrashesFromWriteSet(t *testing.T) {
	ctx := context.Background()
	got, err := explore.Run(ctx, toyInOrder(t, explore.FromWrites))
	if err != nil || !got.Complete || len(got.Errors) != 0 || got.CrashStates != 1 || got.Early != 0 {
		t.Errorf("from writes: %+v, %v", got, err)
	}
	cfg := toyInOrder(t, explore.FromWriteSet)
	if got, err = explore.Run(ctx, cfg); err != nil || !got.Complete || len(got.Errors) != 1 || got.Errors[0].Kind != "out of order" || got.Early == 0 {
		t.Fatalf("from the write set: %+v, %v", got, err)
	}
	e, err := explore.ReadError(filepath.Join(cfg.Dir, got.Errors[0].Dir))
	if err != nil {
		t.Fatal(err)
	}
	if early := e.Crash.Early; len(early) != 1 || early[0] != (explore.EarlyBlock{Disk: 0, Sector: 2, Bytes: 512}) || len(e.Crash.Missing) != 0 {
		t.Errorf("the crash is %+v", e.Crash)
	}
	what, err := os.ReadFile(filepath.Join(cfg.Dir, e.Dir, "what.txt"))
	if err != nil || !strings.Contains(string(what), "512 bytes at sector 2 of disk 0") {
		t.Errorf("what.txt says %s, %v", what, err)
	}
	for range 3 {
		if found, err := explore.Replay(ctx, toyInOrder(t, explore.FromWriteSet), e); err != nil || found == nil || found.Kind != e.Kind {
			t.Errorf("replayed: %v, %v", found, err)
		}
	}
	if found, err := explore.Replay(ctx, toyInOrder(t, explore.FromWrites), e); err != nil || found != nil {
		t.Errorf("replayed from the writes alone: %v, %v", found, err)
	}
}

// Of three keys that were put in three steps each subset can be on the disk, however the explorer gets to the steps.
func TestWriteSetIsExhaustive(t *testing.T) {
	for _, restore := range explore.Restorings() {
		cfg := toy(t, "", 3, 1)
		cfg.System.(*exploretest.System).Programs["sh"] = toyInOrder(t, "").System.(*exploretest.System).Programs["sh"]
		cfg.Stack.Checker, cfg.CrashFrom, cfg.Restore, cfg.Depth = &unsynced{}, explore.FromWriteSet, restore, 3
		got, err := explore.Run(context.Background(), cfg)
		if err != nil || len(got.Errors) != 0 || !got.Complete || got.Sampled != 0 {
			t.Fatalf("%s: %+v, %v", restore, got, err)
		}
		if got.CrashStates != 1<<3 || got.Early != 1<<3-1 || got.Possible != 2+4+8 {
			t.Errorf("%s: %+v, want eight crash disks", restore, got.Totals)
		}
	}
}

// unsynced puts a key more in each step.
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

// A machine that does not tell the write set is not asked for it.
func TestWriteSetOfMachine(t *testing.T) {
	cfg := toyInOrder(t, explore.FromWriteSet)
	cfg.System = struct{ explore.System }{cfg.System}
	if _, err := explore.Run(context.Background(), cfg); err == nil || !strings.Contains(err.Error(), "write set") {
		t.Error(err)
	}
	cfg.CrashFrom = "bios"
	if _, err := explore.Run(context.Background(), cfg); err == nil || !strings.Contains(err.Error(), "bios") {
		t.Error(err)
	}
}
