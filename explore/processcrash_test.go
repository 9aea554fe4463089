package explore_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/exploretest"
)

// An app is a program that writes a value to two files, and its checker: both files must have the
// same value. With a log, the program can be ended anywhere.
type app struct {
	explore.Plain
	log   bool
	files map[string]int
}

// run writes a value, call by call, until the program is ended.
func (a *app) run(_ *exploretest.System, c agent.Command) (e agent.Exit, err error) {
	var value int
	if _, err := fmt.Sscan(c.Args[1], &value); err != nil {
		return e, err
	}
	type call struct {
		name string
		do   func()
	}
	write := func(file string) call { return call{"write", func() { a.files[file] = value }} }
	calls := []call{write("a"), write("b")}
	if a.log {
		unlink := call{"unlink", func() { delete(a.files, "log") }}
		calls = append(append([]call{write("log")}, calls...), unlink)
	}
	for i, call := range calls {
		if c.Prefix != nil && uint64(i) == c.Prefix.Calls {
			e.Cut, e.Code = true, 137
			break
		}
		call.do()
		e.Calls += call.name + "\n"
	}
	return e, nil
}

func (a *app) Init(*explore.Env) error {
	clear(a.files)
	return nil
}

func (a *app) Mutate(e *explore.Env) error {
	value := e.Choose(2)
	if err := e.CheckCrashesStart(nil); err != nil {
		return err
	}
	if _, err := e.Run("app", fmt.Sprint(value+1)); err != nil {
		return err
	}
	return e.CheckCrashesEnd(nil)
}

func (a *app) Check(*explore.Env, explore.Crash) error {
	if _, logged := a.files["log"]; !logged && a.files["a"] != a.files["b"] {
		return explore.Failuref("torn", "a has %d, and b has %d", a.files["a"], a.files["b"])
	}
	return nil
}

// TestProcessCrashes checks that the explorer finds the failure of a program that is ended between
// two writes, after the fewest calls that show it. It finds none with a log.
func TestProcessCrashes(t *testing.T) {
	for _, log := range []bool{false, true} {
		cfg := toy(t, "", 1, 1)
		a := &app{log: log, files: make(map[string]int)}
		system(cfg).Programs["app"] = a.run
		cfg.Stack.Checker, cfg.Depth, cfg.ProcessCrashes = a, 2, true
		got, err := explore.Run(context.Background(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if log {
			// Six executions: two values from each of three states. A program can be ended at five
			// points.
			if len(got.Errors) != 0 || !got.Complete || got.ProcessCrashes != 6*5 || got.Diverged != 0 {
				t.Errorf("with a log: %+v, %+v", got.Totals, got.Errors)
			}
			continue
		}
		if len(got.Errors) != 1 || got.Errors[0].Kind != "soft crash: torn" ||
			!slices.Equal(got.Errors[0].ProcessCrash.Calls, []string{"write"}) {
			t.Fatalf("without a log: %+v", got.Errors)
		}
		e := readError(t, cfg, got, 0)
		for _, log := range []bool{false, true} {
			a.log = log
			if kind := replay(t, cfg, e); (kind == "") != log {
				t.Errorf("log %t: replay shows %q", log, kind)
			}
		}
	}
}

// TestProcessCrashLimit checks that the limit samples the five points of a step at which its
// program can be ended, and that another seed chooses others.
func TestProcessCrashLimit(t *testing.T) {
	ended := make(map[uint64]bool) // numbers of calls after which the program was ended
	for seed := range uint64(8) {
		cfg := toy(t, "", 1, 1)
		a := &app{log: true, files: make(map[string]int)}
		run := func(s *exploretest.System, c agent.Command) (agent.Exit, error) {
			e, err := a.run(s, c)
			if e.Cut {
				ended[c.Prefix.Calls] = true
			}
			return e, err
		}
		system(cfg).Programs["app"] = run
		cfg.Stack.Checker, cfg.Depth, cfg.ProcessCrashes = a, 1, true
		cfg.ProcessCrashLimit, cfg.Seed, cfg.ProcessCrashesOnly = 2, seed, true
		got, err := explore.Run(context.Background(), cfg)
		if err != nil || got.ProcessCrashes != 2*2 || got.Sampled != 2 || len(got.Errors) != 0 ||
			got.CrashStates != 0 {
			t.Fatalf("seed %d: %+v, %v", seed, got, err)
		}
	}
	if len(ended) < 4 {
		t.Errorf("eight seeds end the program at %v only", ended)
	}
}
