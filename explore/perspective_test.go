package explore_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/exploretest"
	"fsward/explore/ramdisk"
)

// A committed component keeps a record of eight sectors, which one write puts on the disk. It takes
// the record for whole if its first and its last sector have the same number. That is a bug: a
// crash can leave old sectors between them.
type committed struct{ explore.Node }

func (*committed) Mount(e *explore.Env) error { return nil }

// A recordChecker writes records, without a flush.
type recordChecker struct {
	explore.Plain
	n int
}

func (c *recordChecker) Init(*explore.Env) error { c.n = 0; return nil }

func (c *recordChecker) Mutate(e *explore.Env) error {
	if err := e.CheckCrashesStart(text("a record")); err != nil {
		return err
	}
	c.n++
	if _, err := e.Run("record", fmt.Sprint(c.n)); err != nil {
		return err
	}
	return e.CheckCrashesEnd(text("a record"))
}

type text string

func (t text) Key() string { return string(t) }

func (c *recordChecker) Check(e *explore.Env, _ explore.Crash) error {
	exit, err := e.Run("read")
	if err == nil && exit.Code != 0 {
		err = explore.Failuref("torn record", "%s", exit.Stdout)
	}
	return err
}

func newCommitted(t *testing.T) explore.Config {
	t.Helper()
	cfg := toy(t, "", 1, 1)
	s := system(cfg)
	s.Programs["record"] = func(s *exploretest.System, c agent.Command) (agent.Exit, error) {
		return agent.Exit{}, s.Submit(0, ramdisk.Write, 0, 8,
			bytes.Repeat([]byte{c.Args[1][0]}, 8*ramdisk.SectorSize))
	}
	s.Programs["read"] = func(s *exploretest.System, _ agent.Command) (x agent.Exit, err error) {
		var all []byte
		for i := range uint64(8) {
			sector, err := s.Read(0, 8+i)
			if err != nil {
				return x, err
			}
			all = append(all, sector[0])
		}
		if all[0] == all[7] && !bytes.Equal(all, bytes.Repeat(all[:1], 8)) {
			x.Code, x.Stdout = 1, fmt.Appendf(nil, "%q", all)
		}
		return x, nil
	}
	on := []explore.Component{explore.RAMDisk(0, 64<<10)}
	cfg.Stack = explore.Stack{Top: &committed{explore.Node{At: "/c", On: on}},
		Checker: new(recordChecker)}
	cfg.Strategy, cfg.Depth, cfg.Crash.Limit = explore.BreadthFirst, 2, 1<<12
	return cfg
}

// TestCommitCheckOfTwoSectors checks that a commit check that reads only the first and the last
// sector is found by crashes between sectors, and by no larger unit. The error names the simplest
// perspective, and what reached the disk.
func TestCommitCheckOfTwoSectors(t *testing.T) {
	for _, unit := range explore.CrashUnits() {
		for _, torn := range []bool{false, true} {
			cfg := newCommitted(t)
			cfg.Crash.Unit, cfg.Crash.Torn = unit.Bytes(), torn
			sum, err := explore.Run(context.Background(), cfg)
			if err != nil || !sum.Complete || sum.Sampled > 0 {
				t.Fatalf("%+v, %v", sum, err)
			}
			if found := len(sum.Errors) > 0; found != (unit == explore.SectorUnit) {
				t.Errorf("%s, torn %v: errors %+v", unit, torn, sum.Errors)
			}
			if len(sum.Errors) == 0 {
				continue
			}
			e := readError(t, cfg, sum, 0)
			if want := "the last one with any of its parts"; len(e.Crash.Torn) != 1 ||
				!strings.Contains(e.Crash.Perspective, want) {
				t.Errorf("%+v", e.Crash)
			}
			what, err := os.ReadFile(filepath.Join(cfg.Dir, e.Dir, "what.txt"))
			if err != nil || !strings.Contains(string(what), "Of the 8 sectors of bio") {
				t.Errorf("%s, %v", what, err)
			}
			if kind := replay(t, cfg, e); kind != "torn record" {
				t.Errorf("the replay shows %q", kind)
			}
		}
	}
}

// TestCommitCheckInASample checks that with a small limit, the sample of a divided write still
// finds it.
func TestCommitCheckInASample(t *testing.T) {
	cfg := newCommitted(t)
	cfg.Crash.Unit, cfg.Crash.Limit = explore.SectorUnit.Bytes(), 24
	sum, err := explore.Run(context.Background(), cfg)
	if err != nil || len(sum.Errors) != 1 || sum.Sampled == 0 {
		t.Errorf("%+v, %v", sum, err)
	}
}
