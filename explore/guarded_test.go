package explore_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/ramdisk"
)

// few is a guard that lets so many writes pass in each run.
type few struct {
	t     *testing.T
	most  int
	begun int
	open  int
}

func (g *few) Begin(disks []explore.GuardedDisk) (explore.GuardSession, error) {
	if len(disks) != 1 || disks[0].Name != "/dev/fswrd0" || disks[0].Base.Size() == 0 {
		g.t.Errorf("guarded: %+v", disks)
	}
	g.begun++
	g.open++
	return &fewLeft{few: g, left: g.most}, nil
}

type fewLeft struct {
	*few
	left    int
	refused *explore.Failure
}

func (g *fewLeft) Allow(i int, bio *ramdisk.Record) unix.Errno {
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

func (g *fewLeft) Refused() *explore.Failure { return g.refused }

func (g *fewLeft) Close() error { g.open--; return nil }

// A guarded disk asks its guard, and what that refuses is never on it: the machine meets an error, and that is what was found, which has a folder
// and replays. A guard that refuses nothing changes nothing; a stack without guarded disks needs none, and one with them does.
func TestGuarded(t *testing.T) {
	var plain explore.Summary
	for _, c := range []struct {
		guarded bool
		most    int
		errors  int
	}{{false, 0, 0}, {true, 1 << 20, 0}, {true, 3, 1}} {
		cfg := toy(t, "", 2, 1)
		cfg.Stack.Disks()[0].Guarded = c.guarded
		guard := &few{t: t, most: c.most}
		cfg.Guard = guard
		got, err := explore.Run(context.Background(), cfg)
		if err != nil || !got.Complete {
			t.Fatal(got, err)
		}
		if (guard.begun > 0) != c.guarded || guard.open != 0 || len(got.Errors) != c.errors {
			t.Errorf("%+v: begun %d times, %d open; %+v", c, guard.begun, guard.open, got.Errors)
		}
		switch {
		case !c.guarded:
			plain = got
		case c.errors == 0 && (got.States != plain.States || got.CrashStates != plain.CrashStates):
			t.Errorf("guarded: %d states and %d crash disks, and without a guard %d and %d", got.States, got.CrashStates, plain.States, plain.CrashStates)
		}
		for _, e := range got.Errors {
			e, err := explore.ReadError(filepath.Join(cfg.Dir, e.Dir))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(e.Summary, "too much") {
				t.Errorf("%+v", e)
			}
			if found, err := explore.Replay(context.Background(), cfg, e); err != nil || found == nil || found.Kind != "refused: 1" {
				t.Errorf("replayed: %v, %v", found, err)
			}
		}
	}
	cfg := toy(t, "", 1, 1)
	cfg.Stack.Disks()[0].Guarded = true
	if _, err := explore.Run(context.Background(), cfg); err == nil {
		t.Error("a guarded disk without a guard")
	}
}
