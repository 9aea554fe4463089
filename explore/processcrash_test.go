package explore_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/exploretest"
)

// app is a program that changes two files of a file system without crashes: both, or none. With a log it can be ended anywhere.
type app struct {
	explore.Plain
	log   bool
	files map[string]int
}

// run writes a value, call by call, up to where it is to end.
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
		calls = append(append([]call{write("log")}, calls...), call{"unlink", func() { delete(a.files, "log") }})
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
		return explore.Failuref("torn", "a has %d, b %d", a.files["a"], a.files["b"])
	}
	return nil
}

// A program that is ended between two writes is found, after the fewest calls that show it, and one with a log is not.
func TestSoftCrashes(t *testing.T) {
	for _, log := range []bool{false, true} {
		cfg := toy(t, "", 1, 1)
		a := &app{log: log, files: make(map[string]int)}
		cfg.System.(*exploretest.System).Programs["app"] = a.run
		cfg.Stack.Checker, cfg.Depth, cfg.ProcessCrashes = a, 2, true
		got, err := explore.Run(context.Background(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if log {
			// Two ways at each of two depths from three states, each with five places to end.
			if len(got.Errors) != 0 || !got.Complete || got.ProcessCrashes != 6*5 || got.Diverged != 0 {
				t.Errorf("with a log: %+v, %+v", got.Totals, got.Errors)
			}
			continue
		}
		if len(got.Errors) != 1 || got.Errors[0].Kind != "soft crash: torn" || strings.Join(got.Errors[0].ProcessCrash.Calls, " ") != "write" {
			t.Fatalf("without a log: %+v", got.Errors)
		}
		e, err := explore.ReadError(filepath.Join(cfg.Dir, got.Errors[0].Dir))
		if err != nil {
			t.Fatal(err)
		}
		for _, log := range []bool{false, true} {
			a.log = log
			if again, err := explore.Replay(context.Background(), cfg, e); err != nil || (again == nil) != log {
				t.Errorf("replayed, with a log: %t: %v, %v", log, again, err)
			}
		}
	}
}
