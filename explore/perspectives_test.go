package explore_test

import (
	"bytes"
	"context"
	"testing"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/exploretest"
	"fsward/explore/ramdisk"
)

// A pairChecker puts two writes of three sectors each on the disk, without a flush.
type pairChecker struct{ explore.Plain }

func (pairChecker) Mutate(e *explore.Env) error {
	if err := e.CheckCrashesStart(text("two writes")); err != nil {
		return err
	}
	if _, err := e.Run("pair"); err != nil {
		return err
	}
	return e.CheckCrashesEnd(text("two writes"))
}

func (pairChecker) Check(e *explore.Env, _ explore.Crash) error {
	exit, err := e.Run("read")
	if err == nil && exit.Code != 0 {
		err = explore.Failuref("wrong pair", "%s", exit.Stdout)
	}
	return err
}

// pairOf returns the configuration of a component that does not bear some states of its six
// sectors.
func pairOf(t *testing.T, bad ...string) explore.Config {
	t.Helper()
	cfg := toy(t, "", 1, 1)
	s := system(cfg)
	s.Programs["pair"] = func(s *exploretest.System, _ agent.Command) (agent.Exit, error) {
		data := bytes.Repeat([]byte{'x'}, 3*ramdisk.SectorSize)
		err := s.Submit(0, ramdisk.Write, 0, 8, data)
		if err == nil {
			err = s.Submit(0, ramdisk.Write, 0, 16, data)
		}
		return agent.Exit{}, err
	}
	s.Programs["read"] = func(s *exploretest.System, _ agent.Command) (x agent.Exit, err error) {
		var have []byte
		for _, at := range []uint64{8, 9, 10, 16, 17, 18} {
			sector, err := s.Read(0, at)
			if err != nil {
				return x, err
			}
			have = append(have, "-x"[min(sector[0], 1)])
		}
		for _, b := range bad {
			if b == string(have) {
				x.Code, x.Stdout = 1, have
			}
		}
		return x, nil
	}
	on := []explore.Component{explore.RAMDisk(0, 64<<10)}
	cfg.Stack = explore.Stack{Top: &committed{explore.Node{At: "/c", On: on}}, Checker: pairChecker{}}
	cfg.Strategy, cfg.Depth, cfg.Crash.Limit = explore.BreadthFirst, 1, 1<<12
	return cfg
}

// TestPerspectivesInOrder checks that an error is shown from the first perspective of FiSC that
// shows it: each state below is one that no earlier perspective has.
func TestPerspectivesInOrder(t *testing.T) {
	states := []struct{ state, perspective string }{
		{"xxx---", "whole writes in their order"},
		{"xxxx--", "writes in their order, the last one cut between two sectors"},
		{"---xxx", "whole writes in any order"},
		{"xxx-x-", "writes in their order, the last one with any of its parts"},
		{"-x--x-", "any parts of writes in any order"},
	}
	for first := range states {
		var bad []string
		for _, s := range states[first:] {
			bad = append(bad, s.state)
		}
		cfg := pairOf(t, bad...)
		cfg.Crash.Unit = explore.SectorUnit.Bytes()
		sum, err := explore.Run(context.Background(), cfg)
		if err != nil || len(sum.Errors) != 1 || sum.Sampled > 0 {
			t.Fatalf("%+v, %v", sum, err)
		}
		e := readError(t, cfg, sum, 0)
		if e.Crash.Perspective != states[first].perspective {
			t.Errorf("%q is shown from the perspective %q", bad, e.Crash.Perspective)
		}
		if kind := replay(t, cfg, e); kind != "wrong pair" {
			t.Errorf("%q: the replay shows %q", bad, kind)
		}
	}
	cfg := pairOf(t, "---xxx") // with whole writes, the last perspective has the name of the third
	sum, err := explore.Run(context.Background(), cfg)
	if err != nil || len(sum.Errors) != 1 {
		t.Fatalf("%+v, %v", sum, err)
	}
	if e := readError(t, cfg, sum, 0); e.Crash.Perspective != "whole writes in any order" {
		t.Errorf("whole writes are shown from the perspective %q", e.Crash.Perspective)
	}
}
