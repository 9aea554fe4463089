package explore_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"fsward/explore"
	"fsward/explore/ramdisk"
)

// A logging checker puts two keys into a toy and syncs. It expects of a crash anywhere in the log
// that no key is there without the one before it, which the toy does not promise.
type logging struct {
	ordered
	at     string // the ticks after which it crashes
	window bool   // it also requests crashes during the whole step
}

func (c logging) Mutate(e *explore.Env) error {
	if c.window {
		if err := e.CheckCrashesStart(nil); err != nil {
			return err
		}
	}
	for _, key := range []string{"0", "1"} {
		if _, err := e.Run("toy", "put", key, "7"); err != nil {
			return err
		}
	}
	if _, err := e.Run("toy", "sync"); err != nil {
		return err
	}
	if err := e.Mark("synced"); err != nil {
		return err
	}
	if c.window {
		return e.CheckCrashesEnd(nil)
	}
	return nil
}

func (c logging) Crashes(log []explore.Tick) (out []explore.LogCrash, err error) {
	for _, t := range log {
		if t.What == c.at || t.Mark == c.at {
			out = append(out, explore.LogCrash{After: t.Record})
		}
	}
	if c.at == "backwards" {
		return []explore.LogCrash{{After: 2}, {After: 1}}, nil
	}
	return out, nil
}

// TestCrashesInTheLog checks that a checker that starts crashes in the log finds what shows between
// two writes, and the error replays. After its own mark, behind the flush, nothing shows.
func TestCrashesInTheLog(t *testing.T) {
	for at, want := range map[string][]string{"write": {"out of order"}, "synced": nil, "none": nil} {
		cfg := toyInOrder(t, explore.FromWrites)
		cfg.Stack.Checker = logging{at: at}
		got, sum := kinds(t, cfg)
		if !slices.Equal(got, want) {
			t.Errorf("crashes after %s found %q, want %q", at, got, want)
		}
		if tried := sum.CrashStates > 0; tried != (at != "none") {
			t.Errorf("crashes after %s: %d crash states", at, sum.CrashStates)
		}
		if len(got) != 1 {
			continue
		}
		if kind := replay(t, cfg, readError(t, cfg, sum, 0)); kind != got[0] {
			t.Errorf("the replay shows %q", kind)
		}
	}
}

// TestWrongCrashesInTheLog checks that crashes from the log are in its order, and outside of
// windows.
func TestWrongCrashesInTheLog(t *testing.T) {
	for _, c := range []struct {
		checker logging
		want    string
	}{
		{logging{at: "backwards"}, "is requested after that at 2"},
		{logging{at: "write", window: true}, "inside of a window"},
	} {
		cfg := toyInOrder(t, explore.FromWrites)
		cfg.Stack.Checker = c.checker
		if _, err := explore.Run(context.Background(), cfg); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.checker, err, c.want)
		}
	}
}

// A filled system has a log that was full.
type filled struct{ explore.System }

func (s filled) Records(ctx context.Context) ([]ramdisk.Record, error) {
	records, err := s.System.Records(ctx)
	return append(records, ramdisk.Record{Type: ramdisk.Lost, Len: 3}), err
}

// TestFullLog checks that a checker is not asked about a log that was full, which has lost marks.
func TestFullLog(t *testing.T) {
	cfg := toyInOrder(t, explore.FromWrites)
	cfg.Stack.Checker, cfg.System = logging{at: "backwards"}, filled{cfg.System}
	if _, err := explore.Run(t.Context(), cfg); !errors.Is(err, ramdisk.ErrFull) {
		t.Errorf("%v, want %v", err, ramdisk.ErrFull)
	}
}
