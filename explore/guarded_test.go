package explore_test

import (
	"context"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/ramdisk"
)

// A limitGuard allows a number of writes in each execution.
type limitGuard struct {
	t     *testing.T
	limit int // writes
	begun int // sessions that were begun
	open  int // sessions that were not closed
}

func (g *limitGuard) Begin(disks []explore.GuardedDisk) (explore.GuardSession, error) {
	if len(disks) != 1 || disks[0].Name != "/dev/fswrd0" || disks[0].Base.Size() == 0 {
		g.t.Errorf("guarded: %+v", disks)
	}
	g.begun++
	g.open++
	return &limitSession{limitGuard: g, left: g.limit}, nil
}

type limitSession struct {
	*limitGuard
	left    int // writes that are still allowed
	refused *explore.Failure
}

func (g *limitSession) Allow(i int, bio *ramdisk.Record) unix.Errno {
	if i != 0 || bio.Op == ramdisk.Read {
		g.t.Errorf("disk %d: %+v", i, bio)
	}
	if bio.Op != ramdisk.Write {
		return 0
	}
	if g.left--; g.left >= 0 {
		return 0
	}
	if g.refused == nil {
		g.refused = &explore.Failure{Kind: "refused: 1", Text: "too much"}
	}
	return unix.EIO
}

func (g *limitSession) Refused() *explore.Failure { return g.refused }

func (g *limitSession) Close() error { g.open--; return nil }

// TestGuarded checks that a write that the guard refuses fails in the machine. The explorer reports
// the refusal as an error, which replays. A guard that refuses nothing changes nothing. A stack
// with guarded disks needs a guard, and one without does not.
func TestGuarded(t *testing.T) {
	var plain explore.Summary
	for _, c := range []struct {
		guarded bool
		limit   int
		errors  int
	}{{false, 0, 0}, {true, 1 << 20, 0}, {true, 3, 1}} {
		cfg := toy(t, "", 2, 1)
		cfg.Stack.Disks()[0].Guarded = c.guarded
		guard := &limitGuard{t: t, limit: c.limit}
		cfg.Guard = guard
		got, err := explore.Run(context.Background(), cfg)
		if err != nil || !got.Complete {
			t.Fatal(got, err)
		}
		if (guard.begun > 0) != c.guarded || guard.open != 0 || len(got.Errors) != c.errors {
			t.Errorf("%+v: %d sessions begun, %d not closed; errors %+v",
				c, guard.begun, guard.open, got.Errors)
		}
		switch {
		case !c.guarded:
			plain = got
		case c.errors == 0 && (got.States != plain.States || got.CrashStates != plain.CrashStates):
			t.Errorf("guarded: %d states and %d crash states; without a guard: %d and %d",
				got.States, got.CrashStates, plain.States, plain.CrashStates)
		}
		for i := range got.Errors {
			e := readError(t, cfg, got, i)
			if !strings.HasPrefix(e.Summary, "too much") {
				t.Errorf("%+v", e)
			}
			if kind := replay(t, cfg, e); kind != "refused: 1" {
				t.Errorf("replay shows %q", kind)
			}
		}
	}
	cfg := toy(t, "", 1, 1)
	cfg.Stack.Disks()[0].Guarded = true
	if _, err := explore.Run(context.Background(), cfg); err == nil {
		t.Error("Run accepted a guarded disk without a guard")
	}
}
