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

// enumerate counts the states after at most depth puts and syncs, and the executions that visit
// them. It does not use the explorer.
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

// TestStatesAreThoseOfAnEnumeration checks that a breadth-first search reaches each state by its
// shortest path, so that with a bound of the depth it visits the states of an enumeration. Without
// a bound, all strategies visit all states.
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
				bound = 100 // more than the number of states
			}
			states, runs := enumerate(2, 2, bound)
			if int(got.States) != states || int(got.Runs) != runs {
				t.Errorf("%s, depth %d: %d states in %d executions; an enumeration has %d in %d",
					strategy, depth, got.States, got.Runs, states, runs)
			}
			if !got.Complete || len(got.Errors) != 0 {
				t.Errorf("%s, depth %d: complete %v, errors %v",
					strategy, depth, got.Complete, got.Errors)
			}
			if got.CrashStates == 0 || got.Waiting != 0 || got.Diverged != 0 {
				t.Errorf("%s: %+v", strategy, got.Totals)
			}
		}
	}
}

// TestPlantedBugsAreFound checks that the explorer finds each planted bug. The folder of the error
// replays ten times of ten, and it does not replay on a toy without the bug.
func TestPlantedBugsAreFound(t *testing.T) {
	for _, c := range []struct {
		bug   exploretest.Bug
		kind  string
		steps int // the fewest: the necessary puts, and the sync; a depth-first search takes more
	}{
		{exploretest.DroppedFlush, "synced byte lost", 2},
		{exploretest.EarlySync, "synced byte lost", 3},
		{exploretest.Panic, "panic", 2},
	} {
		cfg := toy(t, c.bug, 3, 1)
		got, err := explore.Run(context.Background(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Errors) != 1 || got.Errors[0].Kind != c.kind || !got.Complete {
			t.Fatalf("%s: complete %v, errors %+v", c.bug, got.Complete, got.Errors)
		}
		e := readError(t, cfg, got, 0)
		if len(e.Steps) != c.steps {
			t.Errorf("%s: %d steps, want %d: %v", c.bug, len(e.Steps), c.steps, e.Did)
		}
		if e.Crash != nil && c.bug == exploretest.DroppedFlush && len(e.Crash.Missing) != 1 {
			t.Errorf("%s: %d missing writes, want 1", c.bug, len(e.Crash.Missing))
		}
		text, err := os.ReadFile(filepath.Join(cfg.Dir, got.Errors[0].Dir, "what.txt"))
		for _, want := range []string{e.Summary, "1. toy put", "fsward explore replay " + cfg.Dir} {
			if err != nil || !strings.Contains(string(text), want) {
				t.Errorf("%s: what.txt has no %q: %s, %v", c.bug, want, text, err)
			}
		}
		for range 10 {
			if kind := replay(t, toy(t, c.bug, 3, 1), e); kind != c.kind {
				t.Errorf("%s: replay shows %q", c.bug, kind)
			}
		}
		if kind := replay(t, toy(t, "", 3, 1), e); kind != "" {
			t.Errorf("replay without %s shows %q", c.bug, kind)
		}
	}
}

// TestRunGoesOn checks that a run that ends early can be continued. All its parts together visit
// the states of an uninterrupted run.
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
		left := 7 // executions of this part
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
				t.Errorf("%d parts: %d states in %d executions; uninterrupted: %d in %d",
					parts, got.States, got.Runs, whole.States, whole.Runs)
			}
			break
		}
	}
	if parts < 3 {
		t.Errorf("the run had %d parts, want at least 3", parts)
	}
}

// An ender calls end at each Init.
type ender struct {
	exploretest.ToyChecker
	end func()
}

func (e *ender) Init(env *explore.Env) error {
	e.end()
	return e.ToyChecker.Init(env)
}

// A fickle checker makes other choices each time.
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
		t.Errorf("%d diverged replays, %d events, errors %v, %v", got.Diverged, events, got.Errors, err)
	}
}

func TestStackThatCannotBeMade(t *testing.T) {
	cfg := toy(t, "", 1, 1)
	cfg.Stack.Top = &broken{}
	if _, err := explore.Run(context.Background(), cfg); err == nil {
		t.Error("Run accepted a stack without a disk")
	}
	cfg.Stack.Top = &broken{explore.Node{On: []explore.Component{explore.RAMDisk(0, 4096)}}}
	if _, err := explore.Run(context.Background(), cfg); !errors.Is(err, errBroken) {
		t.Errorf("got %v, want %v", err, errBroken)
	}
}

type broken struct{ explore.Node }

var errBroken = errors.New("no mkfs")

func (*broken) Init(*explore.Env) error { return errBroken }

// TestTimeIsUpInTheMiddle checks that a run that is stopped while a crash is checked leaves nothing
// mounted, and removes its disks.
func TestTimeIsUpInTheMiddle(t *testing.T) {
	cfg := toy(t, "", 2, 2)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	checker := exploretest.ToyChecker{Keys: 2, Values: 2}
	cfg.Stack.Checker = &interrupter{ToyChecker: checker, cancel: cancel}
	sum, err := explore.Run(ctx, cfg)
	if err != nil || sum.Complete || ctx.Err() == nil {
		t.Fatal(sum, err)
	}
	if err := cfg.System.MakeDisk(context.Background(), 0, 4096); err != nil {
		t.Errorf("the disk was not removed: %v", err)
	}
	cfg.Stack.Checker = &exploretest.ToyChecker{Keys: 2, Values: 2}
	if err := cfg.System.RemoveDisk(context.Background(), 0); err != nil {
		t.Fatal(err)
	}
	sum, err = explore.Run(context.Background(), cfg)
	if err != nil || !sum.Complete || sum.States != 36 {
		t.Error(sum, err)
	}
}

// An interrupter stops the run when a crash is checked.
type interrupter struct {
	exploretest.ToyChecker
	cancel func()
}

func (i *interrupter) Check(e *explore.Env, c explore.Crash) error {
	i.cancel()
	return i.ToyChecker.Check(e, c)
}

// TestTimeIsUpInAReplay checks that a run that is stopped while an error is made smaller or
// replayed checks no further crash states, although they could show the error.
func TestTimeIsUpInAReplay(t *testing.T) {
	all := 1
	for at := 1; at <= all; at += 8 {
		cfg := pairOf(t)
		cfg.Crash.Unit = explore.SectorUnit.Bytes()
		ctx, cancel := context.WithCancel(t.Context())
		checker := &wrongOnce{stopAt: at, stop: cancel}
		cfg.Stack.Checker = checker
		if at == 1 { // how many checks are there without a stop?
			checker.stopAt = 0
		}
		sum, err := explore.Run(ctx, cfg)
		if err != nil || len(sum.Errors) != 1 || checker.stopAt > 0 && checker.after > at+1 {
			t.Errorf("%d checks after the error, want at most %d: %+v, %v", checker.after, at+1, sum, err)
		}
		if checker.stopAt == 0 {
			all = checker.after
		}
		cancel()
	}
	if all < 64 {
		t.Errorf("%d checks without a stop", all)
	}
}

// A wrongOnce reports an error for one crash state between two writes, which no replay shows. At
// check stopAt after this error it calls stop.
type wrongOnce struct {
	pairChecker
	wrong         bool
	after, stopAt int
	stop          func()
}

func (w *wrongOnce) Check(_ *explore.Env, c explore.Crash) error {
	if !w.wrong {
		w.wrong = c.Epoch == explore.InBetween
		if w.wrong {
			return errBroken
		}
		return nil
	}
	if w.after++; w.after == w.stopAt {
		w.stop()
	}
	return nil
}

// TestWriteThrough checks that a write-through disk needs no flush, but it does not have data that
// was not written.
func TestWriteThrough(t *testing.T) {
	for bug, want := range map[exploretest.Bug][2]int{
		exploretest.DroppedFlush: {1, 0},
		exploretest.EarlySync:    {1, 1},
	} {
		for i, through := range []bool{false, true} {
			cfg := toy(t, bug, 2, 1)
			cfg.Depth, cfg.Strategy, cfg.WriteThrough = 3, explore.BreadthFirst, through
			got, err := explore.Run(context.Background(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Errors) != want[i] {
				t.Errorf("%s, write-through %v: %d kinds of errors, want %d",
					bug, through, len(got.Errors), want[i])
			}
			for _, e := range got.Errors {
				if replay(t, cfg, e) == "" {
					t.Errorf("%s, write-through %v: replay shows no failure", bug, through)
				}
			}
		}
	}
}

// TestRunsAreABudget checks that a run stops after Config.Runs executions, and it can be continued.
func TestRunsAreABudget(t *testing.T) {
	cfg := toy(t, "", 2, 2)
	for _, runs := range []uint64{3, 3, 7, 0} {
		cfg.Runs = runs
		got, err := explore.Run(context.Background(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if runs > 0 && got.Totals.Runs != runs || got.Complete != (runs == 0) {
			t.Errorf("%d executions, complete %v, want %d", got.Totals.Runs, got.Complete, runs)
		}
	}
}
