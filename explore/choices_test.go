package explore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/exploretest"
	"fsward/explore/ramdisk"
)

// A decider is a toy whose components and checker choose in each phase. The number of alternatives
// depends on earlier choices. Its only step is a sync.
type decider struct {
	*exploretest.Toy
	made, mounted, recovered uint32
	counts                   map[string]int // how often Check saw the values of all phases
	bad                      string         // the values with which Check fails
}

func (d *decider) Init(e *explore.Env) error {
	d.made = e.Choose(3)
	if err := d.Toy.Init(e); err != nil {
		return err
	}
	// The choice is on the disk, and nowhere else: the disks of the variants differ.
	return run(e, "toy", "mark", fmt.Sprint(d.made))
}

func (d *decider) Mount(e *explore.Env) error {
	if err := d.Toy.Mount(e); err != nil {
		return err
	}
	exit, err := e.Run("toy", "marked")
	if err != nil {
		return err
	}
	if _, err := fmt.Sscan(string(exit.Stdout), &d.made); err != nil {
		return err
	}
	d.mounted = e.Choose(1 + d.made)
	return nil
}

func (d *decider) Recover(e *explore.Env) error {
	d.recovered = e.Choose(2)
	return nil
}

func run(e *explore.Env, args ...string) error {
	exit, err := e.Run(args...)
	if err == nil && exit.Code != 0 {
		err = &explore.CommandError{Command: fmt.Sprint(args), Exit: exit}
	}
	return err
}

// A deciderChecker is the checker of a decider.
type deciderChecker struct {
	explore.Plain
	d *decider
}

func (c deciderChecker) Init(e *explore.Env) error {
	e.Choose(2)
	return nil
}

func (c deciderChecker) Mutate(e *explore.Env) error {
	e.Choose(2)
	if err := run(e, "toy", "sync"); err != nil {
		return err
	}
	return e.CheckCrashesNow(nothing{})
}

// nothing is an expectation.
type nothing struct{}

func (nothing) Key() string { return "" }

func (c deciderChecker) Check(e *explore.Env, _ explore.Crash) error {
	d := c.d
	seen := fmt.Sprint(d.made, d.mounted, d.recovered, e.Choose(1+d.recovered+d.mounted))
	d.counts[seen]++
	if seen == d.bad {
		return explore.Failuref("bad choices", "%s", seen)
	}
	return nil
}

// newDecider returns a configuration for a decider with one step.
func newDecider(t *testing.T, bad string) (explore.Config, *decider) {
	t.Helper()
	cfg := toy(t, "", 1, 1)
	d := &decider{Toy: cfg.Stack.Top.(*exploretest.Toy), counts: make(map[string]int), bad: bad}
	s := system(cfg)
	toyProgram := s.Programs["toy"]
	s.Programs["toy"] = func(s *exploretest.System, c agent.Command) (agent.Exit, error) {
		switch c.Args[1] {
		case "mark":
			sector := [512]byte{c.Args[2][0]}
			return agent.Exit{}, s.Submit(0, ramdisk.Write, 0, 100, sector[:])
		case "marked":
			sector, err := s.Read(0, 100)
			return agent.Exit{Stdout: sector[:1]}, err
		}
		return toyProgram(s, c)
	}
	cfg.Stack = explore.Stack{Top: d, Checker: deciderChecker{d: d}}
	cfg.Strategy, cfg.Depth, cfg.NoPrune = explore.BreadthFirst, 1, true
	cfg.Crash.Repeats = true
	return cfg, d
}

// TestChoicesOfAllPhases checks that choices of every phase are explored: the recoveries are those
// that nested loops count.
func TestChoicesOfAllPhases(t *testing.T) {
	for _, restore := range explore.Restorings() {
		cfg, d := newDecider(t, "none")
		cfg.Restore = restore
		sum, err := explore.Run(context.Background(), cfg)
		if err != nil || !sum.Complete || len(sum.Errors) != 0 || sum.Diverged != 0 {
			t.Fatalf("%+v, %v", sum, err)
		}
		want := make(map[string]int)
		states, runs, recovered := uint64(0), uint64(0), uint64(0)
		for made := range uint32(3) {
			// The first Mount, when the stack is made, chooses, too.
			for range 1 + made {
				for range 1 + made { // Mount, before the steps
					for range 2 { // the checker's Init
						states++
						for range 2 { // Mutate
							states, runs = states+1, runs+1
							for rec := range uint32(2) {
								for again := range 1 + made { // Mount, after the recovery
									for check := range 1 + rec + again {
										want[fmt.Sprint(made, again, rec, check)]++
										recovered++
									}
								}
							}
						}
					}
				}
			}
		}
		runs += states - runs - 1 // each setup but the first is an execution
		if sum.States != states || sum.Runs != runs || sum.Recovered != recovered {
			t.Errorf("%s: %d states, %d runs, %d recoveries; the loops have %d, %d and %d",
				restore, sum.States, sum.Runs, sum.Recovered, states, runs, recovered)
		}
		for key, n := range want {
			if d.counts[key] != n {
				t.Errorf("%s: choices %s: %d times, want %d", restore, key, d.counts[key], n)
			}
		}
		if len(d.counts) != len(want) {
			t.Errorf("%s: %v, want %v", restore, d.counts, want)
		}
	}
}

// TestFailureBehindChoices checks that a failure that needs certain choices of Init, Mount, Recover
// and Check is found. The error names them, and is replayed with them.
func TestFailureBehindChoices(t *testing.T) {
	cfg, _ := newDecider(t, "2 1 1 2")
	sum, err := explore.Run(context.Background(), cfg)
	if err != nil || len(sum.Errors) != 1 {
		t.Fatalf("%+v, %v", sum, err)
	}
	e := readError(t, cfg, sum, 0)
	last := explore.Values(e.Crash.Choices)
	if len(e.Setup) == 0 || e.Setup[0].Value != 2 || !slices.Equal(last, []uint32{1, 1, 2}) {
		t.Errorf("setup %v, recovery %v", e.Setup, last)
	}
	for _, c := range e.Setup[1:] {
		if c.Value != 0 {
			t.Errorf("minimizing left %v", e.Setup)
		}
	}
	if kind := replay(t, cfg, e); kind != "bad choices" {
		t.Errorf("the replay shows %q", kind)
	}
	e.Crash.Choices[2].Value = 1
	e.Crash.Contents = "another"
	if kind := replay(t, cfg, e); kind != "bad choices" {
		t.Errorf("a replay that must look for the crash shows %q", kind)
	}
	e.Setup[0].Value = 1 // with which the first Mount has two alternatives, and not three
	var diverged *explore.DivergedError
	if _, err := explore.Replay(context.Background(), cfg, e); !errors.As(err, &diverged) {
		t.Errorf("a replay with another setup: %v", err)
	}
}

// TestKernelChoices checks that the choices of the kernel are part of the steps. A failure behind
// one of three is found, and the replay loads the same values.
func TestKernelChoices(t *testing.T) {
	cfg := toy(t, "", 1, 1)
	ignoreShell(cfg)
	s := system(cfg)
	var loaded []uint32
	var taken []agent.KernelChoice
	s.Perform = func(_ *exploretest.System, op agent.Op) (r agent.Result) {
		if values, ok := op.LoadedChoices(); ok {
			loaded, taken = values, nil
		} else if op.Code == agent.TakenChoices().Code {
			r.Data = agent.EncodeChoices(taken)
		} else {
			r.Errno = 38
		}
		return r
	}
	toyProgram := s.Programs["toy"]
	seen := make(map[uint32]int)
	s.Programs["toy"] = func(s *exploretest.System, c agent.Command) (agent.Exit, error) {
		if c.Args[1] == "put" {
			v := uint32(0)
			if len(taken) < len(loaded) {
				v = loaded[len(taken)]
			}
			taken = append(taken, agent.KernelChoice{Bound: 3, Value: v, Site: "toy_put+0x10"})
			if seen[v]++; v == 2 {
				return agent.Exit{Code: 5}, nil
			}
		}
		return toyProgram(s, c)
	}
	cfg.KernelChoices, cfg.Strategy, cfg.Depth = true, explore.BreadthFirst, 1
	sum, err := explore.Run(context.Background(), cfg)
	if err != nil || len(sum.Errors) != 1 || sum.Diverged != 0 {
		t.Fatalf("%+v, %v", sum, err)
	}
	if seen[0] == 0 || seen[1] == 0 || seen[2] == 0 {
		t.Errorf("choices of the kernel: %v", seen)
	}
	e := readError(t, cfg, sum, 0)
	step := e.Steps[len(e.Steps)-1]
	c := step[len(step)-1]
	if c.N != 3 || c.Value != 2 || !strings.Contains(c.Site, "toy_put+0x10") {
		t.Errorf("the step is %v", step)
	}
	if kind := replay(t, cfg, e); kind != "mutate failed" {
		t.Errorf("the replay shows %q", kind)
	}
}
