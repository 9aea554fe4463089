package explore_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fsward/explore"
	"fsward/explore/exploretest"
)

func toy(t *testing.T, bug exploretest.Bug, keys, values int) explore.Config {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "fsward-explore-") // in memory, where what is synced costs no time
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return toyIn(dir, bug, keys, values)
}

func toyIn(dir string, bug exploretest.Bug, keys, values int) explore.Config {
	s := exploretest.New()
	return explore.Config{System: s, Dir: dir, Stack: explore.Stack{Top: exploretest.NewToy(s, bug),
		Checker: &exploretest.ToyChecker{Keys: keys, Values: values}}}
}

// enumerate counts the states that up to depth puts and syncs lead to, and the runs that it takes to see them, without anything of the
// explorer.
func enumerate(keys, values, depth int) (states, runs int) {
	type toyState struct{ values, changed string }
	show := func(values map[int]byte, changed map[int]bool) toyState {
		return toyState{fmt.Sprint(values), fmt.Sprint(changed)}
	}
	type node struct {
		values  map[int]byte
		changed map[int]bool
	}
	level := []node{{map[int]byte{}, map[int]bool{}}}
	seen := map[toyState]bool{show(level[0].values, level[0].changed): true}
	for range depth {
		var next []node
		add := func(n node) {
			runs++
			if key := show(n.values, n.changed); !seen[key] {
				seen[key] = true
				next = append(next, n)
			}
		}
		for _, n := range level {
			add(node{n.values, map[int]bool{}})
			for k := range keys {
				for v := range values + 1 {
					m := node{maps.Clone(n.values), maps.Clone(n.changed)}
					m.changed[k] = true
					if m.values[k] = byte(v); v == 0 {
						delete(m.values, k)
					}
					add(m)
				}
			}
		}
		level = next
	}
	return len(seen), runs
}

// Breadth-first, each state is reached on its shortest way, so that what a bound of the depth leaves is what an enumeration has;
// without a bound all strategies see all states.
func TestStatesAreThoseOfAnEnumeration(t *testing.T) {
	for _, strategy := range explore.Strategies() {
		for _, depth := range []int{2, 3, 0} {
			if depth != 0 && strategy != explore.BreadthFirst {
				continue
			}
			cfg := toy(t, "", 2, 2)
			cfg.Strategy, cfg.Depth = strategy, depth
			got, err := explore.Run(context.Background(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			bound := depth
			if depth == 0 {
				bound = 100 // more than there are states
			}
			states, runs := enumerate(2, 2, bound)
			if int(got.States) != states || int(got.Runs) != runs || !got.Complete || len(got.Errors) != 0 {
				t.Errorf("%s, depth %d: %d states in %d runs, complete %v, errors %v; an enumeration has %d and %d", strategy, depth, got.States,
					got.Runs, got.Complete, got.Errors, states, runs)
			}
			if got.CrashStates == 0 || got.Waiting != 0 || got.Diverged != 0 {
				t.Errorf("%s: %+v", strategy, got.Totals)
			}
		}
	}
}

// Each bug is found, its folder replays it ten times of ten, and a toy without it does not show it.
func TestPlantedBugsAreFound(t *testing.T) {
	for bug, kind := range map[exploretest.Bug]string{exploretest.DroppedFlush: "synced byte lost", exploretest.EarlySync: "synced byte lost",
		exploretest.Panic: "panic"} {
		cfg := toy(t, bug, 3, 1)
		got, err := explore.Run(context.Background(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Errors) != 1 || got.Errors[0].Kind != kind || !got.Complete {
			t.Fatalf("%s: complete %v, errors %+v", bug, got.Complete, got.Errors)
		}
		e, err := explore.ReadError(filepath.Join(cfg.Dir, got.Errors[0].Dir))
		if err != nil {
			t.Fatal(err)
		}
		// As small as it gets: what has to be put, and the sync. Depth first, it was longer when it was found.
		if want := map[exploretest.Bug]int{exploretest.DroppedFlush: 2, exploretest.EarlySync: 3, exploretest.Panic: 2}[bug]; len(e.Steps) != want {
			t.Errorf("%s: %d steps, want %d: %v", bug, len(e.Steps), want, e.Did)
		}
		if e.Crash != nil && bug == exploretest.DroppedFlush && len(e.Crash.Missing) != 1 {
			t.Errorf("%s: %d writes are missing", bug, len(e.Crash.Missing))
		}
		what, err := os.ReadFile(filepath.Join(cfg.Dir, got.Errors[0].Dir, "what.txt"))
		if err != nil || !strings.Contains(string(what), e.Summary) || !strings.Contains(string(what), "1. toy put") ||
			!strings.Contains(string(what), "fsward explore replay "+cfg.Dir) {
			t.Errorf("%s: what.txt says %s, %v", bug, what, err)
		}
		for range 10 {
			found, err := explore.Replay(context.Background(), toy(t, bug, 3, 1), e)
			if err != nil || found == nil || found.Kind != kind {
				t.Errorf("%s: replayed: %v, %v", bug, found, err)
			}
		}
		if found, err := explore.Replay(context.Background(), toy(t, "", 3, 1), e); err != nil || found != nil {
			t.Errorf("without %s: replayed: %v, %v", bug, found, err)
		}
	}
}

// A run that ends early goes on where it was, and sees what one that did not end sees.
func TestRunGoesOn(t *testing.T) {
	whole, err := explore.Run(context.Background(), toy(t, "", 2, 2))
	if err != nil {
		t.Fatal(err)
	}
	cfg := toy(t, "", 2, 2)
	parts := 0
	for ; ; parts++ {
		s := exploretest.New()
		cfg.System, cfg.Stack.Top = s, exploretest.NewToy(s, "")
		ctx, cancel := context.WithCancel(context.Background())
		left := 7 // runs of this part
		cfg.Stack.Checker = &ender{ToyChecker: exploretest.ToyChecker{Keys: 2, Values: 2}, end: func() {
			if left--; left == 0 {
				cancel()
			}
		}}
		got, err := explore.Run(ctx, cfg)
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		if got.Complete {
			if got.States != whole.States || got.Runs != whole.Runs {
				t.Errorf("in %d parts %d states in %d runs, at once %d in %d", parts, got.States, got.Runs, whole.States, whole.Runs)
			}
			break
		}
	}
	if parts < 3 {
		t.Errorf("%d parts", parts)
	}
}

// ender tells of each Init.
type ender struct {
	exploretest.ToyChecker
	end func()
}

func (e *ender) Init(env *explore.Env) error {
	e.end()
	return e.ToyChecker.Init(env)
}

// fickle chooses otherwise each time.
type fickle struct {
	exploretest.ToyChecker
	calls uint32
}

func (f *fickle) Mutate(e *explore.Env) error {
	f.calls++
	e.Choose(2 + f.calls%3)
	return nil
}

func TestDivergenceIsReported(t *testing.T) {
	cfg := toy(t, "", 1, 1)
	cfg.Stack.Checker, cfg.Depth = &fickle{}, 3
	var events int
	cfg.OnEvent = func(e explore.Event) {
		if e.Event == "diverged" {
			events++
		}
	}
	got, err := explore.Run(context.Background(), cfg)
	if err != nil || got.Diverged == 0 || events != int(got.Diverged) || len(got.Errors) != 0 {
		t.Errorf("%d replays diverged, %d events, %v, %v", got.Diverged, events, got.Errors, err)
	}
}

func TestStackThatCannotBeMade(t *testing.T) {
	cfg := toy(t, "", 1, 1)
	cfg.Stack.Top = &broken{}
	if _, err := explore.Run(context.Background(), cfg); err == nil {
		t.Error("no disk")
	}
	cfg.Stack.Top = &broken{explore.Node{On: []explore.Component{explore.RAMDisk(0, 4096)}}}
	if _, err := explore.Run(context.Background(), cfg); !errors.Is(err, errBroken) {
		t.Errorf("a component that cannot be made: %v", err)
	}
}

type broken struct{ explore.Node }

var errBroken = errors.New("no mkfs")

func (*broken) Init(*explore.Env) error { return errBroken }

// A run whose time is up in the middle of a crash leaves nothing mounted, and its disks can be removed.
func TestTimeIsUpInTheMiddle(t *testing.T) {
	cfg := toy(t, "", 2, 2)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cfg.Stack.Checker = &interrupter{ToyChecker: exploretest.ToyChecker{Keys: 2, Values: 2}, cancel: cancel}
	sum, err := explore.Run(ctx, cfg)
	if err != nil || sum.Complete || ctx.Err() == nil {
		t.Fatal(sum, err)
	}
	if err := cfg.System.MakeDisk(context.Background(), 0, 4096); err != nil {
		t.Errorf("the disk is still there: %v", err)
	}
	cfg.Stack.Checker = &exploretest.ToyChecker{Keys: 2, Values: 2}
	if err := cfg.System.RemoveDisk(context.Background(), 0); err != nil {
		t.Fatal(err)
	}
	if sum, err = explore.Run(context.Background(), cfg); err != nil || !sum.Complete || sum.States != 36 {
		t.Error(sum, err)
	}
}

// interrupter ends the run when a crash is checked.
type interrupter struct {
	exploretest.ToyChecker
	cancel func()
}

func (i *interrupter) Check(e *explore.Env, c explore.Crash) error {
	i.cancel()
	return i.ToyChecker.Check(e, c)
}

// A disk without a cache needs no flush, and has nothing that was not written.
func TestWriteThrough(t *testing.T) {
	for bug, want := range map[exploretest.Bug][2]int{exploretest.DroppedFlush: {1, 0}, exploretest.EarlySync: {1, 1}} {
		for i, through := range []bool{false, true} {
			cfg := toy(t, bug, 2, 1)
			cfg.Depth, cfg.Strategy, cfg.WriteThrough = 3, explore.BreadthFirst, through
			got, err := explore.Run(context.Background(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Errors) != want[i] {
				t.Errorf("%s, write-through %v: %d kinds of errors, want %d", bug, through, len(got.Errors), want[i])
			}
			for _, e := range got.Errors {
				if again, err := explore.Replay(context.Background(), cfg, e); err != nil || again == nil {
					t.Errorf("%s, write-through %v: not found again: %v", bug, through, err)
				}
			}
		}
	}
}

// A run ends after as many runs of Mutate as it was given, and goes on from there.
func TestRunsAreABudget(t *testing.T) {
	cfg := toy(t, "", 2, 2)
	for _, runs := range []uint64{3, 3, 7, 0} {
		cfg.Runs = runs
		got, err := explore.Run(context.Background(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if runs > 0 && got.Totals.Runs != runs || got.Complete != (runs == 0) {
			t.Errorf("%d runs, %v, want %d", got.Totals.Runs, got.Complete, runs)
		}
	}
}
