package checkers

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"fsward/explore"
	"fsward/explore/exploretest"
	"fsward/explore/model"
)

// config returns the configuration of a run of a checker on a fake file system with a planted bug.
// The context is canceled at the first failure, and after three minutes.
func config(
	t *testing.T, checker, bug string, options model.Promises, depth int,
) (explore.Config, context.Context) {
	t.Helper()
	s := exploretest.New()
	f := newFake(s, bug, options)
	p := fakePromises
	p.Sync, p.Dirsync = options.Sync, options.Dirsync
	c, err := New(checker, f, p, Limits{Files: 2, Dirs: 1, Far: 20 << 10})
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("/dev/shm", "fsward-checkers-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	t.Cleanup(cancel)
	return explore.Config{
		System: s, Dir: dir, Stack: explore.Stack{Top: f, Checker: c},
		Strategy: explore.BreadthFirst, Depth: depth, Inspect: true,
		OnEvent: func(e explore.Event) {
			if e.Event == "error" {
				cancel()
			}
		},
	}, ctx
}

var (
	none         = model.Promises{}
	mountSync    = model.Promises{Sync: true}
	mountDirsync = model.Promises{Dirsync: true}
)

// A plantedBug is a bug of the fake file system, with the run that has to find it.
type plantedBug struct {
	bug, checker string
	options      model.Promises // mount options
	depth        int
	kind         string // of the failure; "": any
}

var plantedBugs = []plantedBug{
	// Below the file system.
	{"dropped flush", "sync", none, 2, "lost"},
	{"write past a flush", "sync", none, 2, "lost"},
	{"only the first sector is written", "sync", none, 3, ""},
	{"write errors ignored", "silent", none, 2, "silent failure"},
	{"a failed write is reported to one descriptor", "silent", none, 1, "error reported once"},
	{"failed allocations succeed", "silent", none, 1, "silent failure"},
	{"failed allocations succeed", "silent-allocations", none, 1, "silent allocation"},
	// Calls and mount options that promise durability.
	{"sync does nothing", "sync", none, 2, "lost"},
	{"syncfs does nothing", "sync", none, 2, "lost"},
	{"fsync does nothing", "sync", none, 2, "lost"},
	{"fdatasync does nothing", "sync", none, 3, ""},
	{"fsync returns early", "sync", none, 2, "lost"},
	{"fsync of directories does nothing", "sync", none, 3, "lost"},
	{"O_SYNC ignored", "sync", none, 3, "lost"},
	{"O_DSYNC ignored", "sync", none, 3, "lost"},
	{"-o sync ignored", "sync", mountSync, 2, "lost"},
	{"-o dirsync ignored", "sync", mountDirsync, 2, "lost"},
	// The content of the journal.
	{"rename not journaled", "sync", none, 2, "appeared"},
	{"unlink not journaled", "sync", none, 2, "appeared"},
	{"ftruncate not journaled", "sync", none, 3, "size"},
	{"chmod not journaled", "sync", none, 2, "mode"},
	{"setxattr not journaled", "sync", none, 2, "attributes"},
	{"mode not journaled", "sync", none, 2, "mode"},
	{"symlink without its target", "sync", none, 2, "link"},
	{"data not journaled", "sync", none, 3, "contents"},
	{"garbage in new blocks", "reasonable", none, 3, "contents"},
	{"rename in two steps", "reasonable", none, 2, "renamed"},
	{"rename through another name", "reasonable", none, 2, "appeared"},
	// Recovery.
	{"checksum not checked", "reasonable", none, 3, "contents"},
	{"recovery skips holes", "reasonable", none, 3, ""},
	{"recovery copies links", "sync", none, 2, ""},
	{"recovery drops a record", "recovery", none, 2, "lost"},
	{"recovery leaves errors", "recovery", none, 2, "not repaired"},
	// An inspection of a recovered disk.
	{"recovery leaves errors", "sync", none, 2, "not repaired"},
	{"a recovered directory cannot be removed", "sync", none, 2, "cannot be used"},
	// Single calls.
	{"rmdir returns ENOENT for a file", "failed-syscalls", none, 2, "wrong result"},
	{"mkdir finds no space", "sync", none, 2, "error without a cause"},
	{"fsync fails without a cause", "sync", none, 2, "error without a cause"},
	{"mkdir fails but takes effect", "failed-syscalls", none, 2, "appeared"},
	{"truncate fails with half its effect", "failed-syscalls", none, 2, "size"},
	{"unlink returns success without effect", "failed-syscalls", none, 2, "appeared"},
	{"rename over a file is refused", "failed-syscalls", none, 3, "wrong result"},
	{"chmod changes all files", "failed-syscalls", none, 2, "mode"},
	{"punching a hole truncates the file", "failed-syscalls", none, 3, "size"},
	// Mounts.
	{"unmount writes nothing", "unmount", none, 1, "lost"},
	{"unmount does not flush", "unmount", none, 1, "lost"},
	{"leak on mount", "leaks", none, 1, "leak"},
	{"leak on every tenth mount", "leaks", none, 1, "leak"},
	{"every tenth link leaks an object of vmalloc", "leaks", none, 2, "leak"},
}

// TestPlanted: the checker that is made for a planted bug finds it.
func TestPlanted(t *testing.T) {
	for _, c := range plantedBugs {
		t.Run(c.bug, func(t *testing.T) {
			t.Parallel()
			cfg, ctx := config(t, c.checker, c.bug, c.options, c.depth)
			begin := time.Now()
			got, err := explore.Run(ctx, cfg)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Errors) == 0 {
				t.Fatalf("%s does not find it: %+v", c.checker, got.Totals)
			}
			e := got.Errors[0]
			if c.kind != "" && e.Kind != c.kind {
				t.Errorf("%s finds %s: %s; want %s", c.checker, e.Kind, e.Summary, c.kind)
			}
			if e.Crash != nil && e.Shown != e.Replays {
				t.Errorf("%d of %d replays show the failure", e.Shown, e.Replays)
			}
			if !c.hasProperty(e.Property) {
				t.Errorf("the failure has the property %q", e.Property)
			}
			if e.Property != "" && got.Asked[e.Property] == 0 {
				t.Errorf("the property %q was not asked for: %v", e.Property, got.Asked)
			}
			t.Logf("%s, %d runs, %d crash states, %v: %s: %.200s",
				c.checker, got.Runs, got.CrashStates, time.Since(begin).Round(time.Millisecond),
				e.Kind, e.Summary)
		})
	}
}

// hasProperty reports whether a failure may have a property: the call or mount option that does not
// keep its promise, if the bug is one of those.
func (c plantedBug) hasProperty(property string) bool {
	if call, is := strings.CutSuffix(c.bug, " does nothing"); is {
		return property == strings.TrimSuffix(call, " of directories")
	}
	if option, is := strings.CutSuffix(c.bug, " ignored"); is && !strings.HasPrefix(c.bug, "write") {
		return strings.HasSuffix(property, option)
	}
	return true
}

// TestGroups: with all groups of operations, the checkers report no failure on a file system
// without bugs, and find one that shows only when the name of an open file is gone.
func TestGroups(t *testing.T) {
	all, err := ParseGroups("all")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		bug, checker, kind string
		groups             []Group
	}{
		{"", "failed-syscalls", "", all}, {"", "reasonable", "", all},
		{"a write to an unlinked file fails", "failed-syscalls", "wrong result", []Group{"held"}},
	} {
		t.Run(c.checker, func(t *testing.T) {
			t.Parallel()
			cfg, ctx := config(t, c.checker, c.bug, none, 3)
			if c.kind == "" {
				cfg.Depth = 2
			}
			core := cfg.Stack.Checker.(interface{ core() *Core }).core()
			core.Limits = Limits{Files: 1, Dirs: -1, Far: 20 << 10, Groups: c.groups}
			cfg.Crash.Limit = 4
			core.Promises.NoSymlinks = true
			got, err := explore.Run(ctx, cfg)
			if err != nil {
				t.Fatal(err)
			}
			found := len(got.Errors) > 0
			if found != (c.kind != "") || found && got.Errors[0].Kind != c.kind {
				t.Errorf("%q: %+v", c.bug, got.Errors)
			}
		})
	}
	if _, err := ParseGroups("held,none"); err == nil {
		t.Error("an unknown group is accepted")
	}
}

// core returns the common part of a checker.
func (c *Core) core() *Core { return c }

// TestNothingFalse: on a file system without bugs, each checker completes its run and reports no
// failure.
func TestNothingFalse(t *testing.T) {
	for _, c := range []struct {
		checker string
		options model.Promises
		depth   int
	}{
		{"sync", none, 2}, {"sync", mountSync, 2}, {"sync", mountDirsync, 2},
		{"reasonable", none, 2}, {"recovery", none, 1}, {"failed-syscalls", none, 2},
		{"silent", none, 2}, {"silent-allocations", none, 1}, {"unmount", none, 2}, {"leaks", none, 1},
	} {
		t.Run(c.checker, func(t *testing.T) {
			t.Parallel()
			cfg, ctx := config(t, c.checker, "", c.options, c.depth)
			got, err := explore.Run(ctx, cfg)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range got.Errors {
				t.Errorf("%s: %s", e.Kind, e.Summary)
			}
			if !got.Complete || got.Diverged != 0 {
				t.Errorf("the run is incomplete or diverged: %+v", got.Totals)
			}
			t.Logf("%d states, %d runs, %d crash states in %.1f s",
				got.States, got.Runs, got.CrashStates, got.Seconds)
		})
	}
}
