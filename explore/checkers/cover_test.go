package checkers

import (
	"context"
	"slices"
	"testing"

	"fsward/explore"
	"fsward/explore/model"
)

// TestCoverVisitsWhatBreadthVisits checks that both strategies execute the same steps if they have
// the time, with the same results.
func TestCoverVisitsWhatBreadthVisits(t *testing.T) {
	for _, checker := range []string{"sync", "failed-syscalls", "silent"} {
		var all []explore.Totals
		for _, s := range []explore.Strategy{explore.BreadthFirst, explore.Cover} {
			cfg, _ := config(t, checker, "", model.Promises{}, 2)
			cfg.Stack.Checker.(interface{ core() *Core }).core().Limits.Files = 1
			cfg.Strategy = s
			sum, err := explore.Run(context.Background(), cfg)
			if err != nil || !sum.Complete || len(sum.Errors) > 0 {
				t.Fatalf("%s, %s: %+v, %v", checker, s, sum, err)
			}
			all = append(all, sum.Totals)
		}
		a, b := all[0], all[1]
		if a.States != b.States || a.Runs != b.Runs || a.Waiting != 0 || b.Waiting != 0 {
			t.Errorf("%s: %+v\n%+v", checker, a, b)
		}
	}
}

// TestCoverTriesEachOperationFirst checks the order of the steps of one depth.
func TestCoverTriesEachOperationFirst(t *testing.T) {
	cfg, _ := config(t, "sync", "", none, 1)
	cfg.Strategy, cfg.Runs = explore.Cover, 3
	sum, err := explore.Run(context.Background(), cfg)
	if err != nil || sum.States != 4 { // a file, a symbolic link and a directory, each synced
		t.Errorf("%+v, %v", sum, err)
	}
}

// TestLaterGroups checks that operations of Limits.Later come after the others of their depth, that
// all of them come, and that a bug of one is found without asking for its group.
func TestLaterGroups(t *testing.T) {
	var all []explore.Totals
	for _, later := range []bool{false, true} {
		cfg, _ := config(t, "sync", "", none, 2)
		limits := &cfg.Stack.Checker.(interface{ core() *Core }).core().Limits
		limits.Files, limits.Dirs = 1, -1
		if limits.Groups = []Group{"attributes"}; later {
			limits.Groups, limits.Later = nil, limits.Groups
		}
		cfg.Strategy = explore.Cover
		sum, err := explore.Run(context.Background(), cfg)
		if err != nil || !sum.Complete || len(sum.Errors) > 0 {
			t.Fatalf("later %v: %+v, %v", later, sum, err)
		}
		all = append(all, sum.Totals)
	}
	if a, b := all[0], all[1]; a.States != b.States || a.Runs != b.Runs {
		t.Errorf("%+v\n%+v", a, b)
	}
	for bug, before := range map[string]bool{"chown not journaled": false,
		"utimes not journaled": false, "setxattr not journaled": true} {
		cfg, ctx := config(t, "sync", bug, none, 2)
		core := cfg.Stack.Checker.(interface{ core() *Core }).core()
		core.Limits.Files, core.Limits.Dirs, core.Promises.NoSymlinks = 1, -1, true
		core.Limits.Later = slices.DeleteFunc(LaterGroups(), func(g Group) bool {
			return g == knownBugs || g == tours
		})
		cfg.Strategy = explore.Cover
		sum, err := explore.Run(ctx, cfg)
		if err != nil || len(sum.Errors) == 0 {
			t.Fatalf("%s: %+v, %v", bug, sum, err)
		}
		steps, common := core.Steps()
		t.Logf("%s: %d runs, %d of %d operations are common", bug, sum.Runs, common, len(steps))
		last := sum.Errors[0].Steps[len(sum.Errors[0].Steps)-1][0]
		if is := last.Value < last.Common; is != before {
			t.Errorf("%s: found by %+v", bug, last)
		}
	}
}

// TestScoutsTryFewCrashStates checks that with a limit, whatever crash states a scout leaves out
// are tried later: both strategies try the same.
func TestScoutsTryFewCrashStates(t *testing.T) {
	var all []explore.Totals
	for _, s := range []explore.Strategy{explore.BreadthFirst, explore.Cover} {
		cfg, _ := config(t, "reasonable", "", none, 2)
		core := cfg.Stack.Checker.(interface{ core() *Core }).core()
		core.Limits.Files, core.Limits.Dirs, core.Promises.NoSymlinks = 1, -1, true
		cfg.Strategy, cfg.Crash.Limit, cfg.Inspect = s, 32, false
		sum, err := explore.Run(context.Background(), cfg)
		if err != nil || !sum.Complete || len(sum.Errors) > 0 {
			t.Fatalf("%s: %+v, %v", s, sum, err)
		}
		all = append(all, sum.Totals)
	}
	a, b := all[0], all[1]
	if a.CrashStates != b.CrashStates || a.Possible != b.Possible || a.Sampled != b.Sampled ||
		a.Runs >= b.Runs {
		t.Errorf("%+v\n%+v", a, b)
	}
}

// TestKnownBugs checks that sync runs each workload of a known bug that the file system can do as
// its first step, and that no step follows one; and that it runs none with a mount option that
// makes each operation durable.
func TestKnownBugs(t *testing.T) {
	run := func(p model.Promises, later ...Group) (known int, sum explore.Totals) {
		p.NoSymlinks = true
		cfg, _ := config(t, "sync", "", p, 2)
		checker := cfg.Stack.Checker.(*Sync)
		checker.Limits.Files, checker.Limits.Dirs, checker.Limits.Later = -1, 1, later
		cfg.Strategy, cfg.Inspect, cfg.Crash.Limit = explore.Cover, false, 8
		list, err := checker.known()
		if err != nil {
			t.Fatal(err)
		}
		got, err := explore.Run(t.Context(), cfg)
		if err != nil || !got.Complete || len(got.Errors) > 0 {
			t.Fatalf("%v: %+v, %v", later, got, err)
		}
		return len(list), got.Totals
	}
	all, err := regressions()
	if err != nil {
		t.Fatal(err)
	}
	can, with := run(none, knownBugs)
	_, without := run(none)
	// All workloads lead to one state, from which one step leads back to it.
	if can == 0 || can >= len(all) || with.States != without.States+1 ||
		with.Runs != without.Runs+uint64(can)+1 {
		t.Errorf("%d of %d workloads: %d states and %d runs, and without them %d and %d", can, len(all),
			with.States, with.Runs, without.States, without.Runs)
	}
	for name, c := range map[string]struct {
		promises    model.Promises
		least, most int
	}{
		"FAT":     {model.Promises{NoLinks: true, NoModes: true, NoXattrs: true}, 1, can - 1},
		"-o sync": {model.Promises{Sync: true}, 0, 0},
	} {
		checker := &Sync{Core: Core{Promises: c.promises, Limits: Limits{Later: []Group{knownBugs}}}}
		if list, err := checker.known(); err != nil || len(list) < c.least || len(list) > c.most {
			t.Errorf("%s: %d workloads, %v", name, len(list), err)
		}
	}
	checker := &Sync{Core: Core{Limits: Limits{Groups: []Group{knownBugs}, Faults: true}}}
	if list, _ := checker.known(); len(list) > 0 {
		t.Errorf("where any call may fail: %d workloads", len(list))
	}
}

// TestTours checks that sync runs each tour as its first step, that no step follows one, and that
// tours find a bug of a group and one of the operations on names before any second step.
func TestTours(t *testing.T) {
	run := func(bug string, p model.Promises, later ...Group) (number int, sum explore.Summary) {
		cfg, _ := config(t, "sync", bug, p, 1)
		checker := cfg.Stack.Checker.(*Sync)
		checker.Limits.Later = later
		cfg.Strategy, cfg.Crash.Limit = explore.Cover, 8
		sum, err := explore.Run(t.Context(), cfg)
		if err != nil || !sum.Complete {
			t.Fatalf("%q: %+v, %v", bug, sum, err)
		}
		return len(checker.tours()), sum
	}
	number, with := run("", none, tours)
	_, without := run("", none)
	if number < 10 || with.Runs < without.Runs+uint64(2*number) || with.States != without.States+1 ||
		len(with.Errors) > 0 {
		t.Errorf("%d tours: %+v; without: %+v", number, with, without)
	}
	for _, bug := range []string{"chown not journaled", "long names not journaled",
		"fsync of a directory after a directory was renamed in it does nothing"} {
		if _, sum := run(bug, none, tours); len(sum.Errors) == 0 || len(sum.Errors[0].Steps) != 1 {
			t.Errorf("%s: %+v", bug, sum.Errors)
		}
	}
	if _, sum := run("chown not journaled", none); len(sum.Errors) > 0 {
		t.Errorf("without tours: %+v", sum.Errors)
	}
	if number, _ := run("", mountSync, tours); number > 0 {
		t.Errorf("%d tours with -o sync", number)
	}
}
