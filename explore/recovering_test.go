package explore_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/exploretest"
	"fsward/explore/ramdisk"
)

// journaled keeps two sectors that are to be equal. They are written to a journal first, and its recovery copies them to their places.
type journaled struct {
	explore.Node
	s *exploretest.System

	hasty   bool // recovery empties the journal before the places are flushed
	partial bool // recovery leaves a mark behind that only Verify sees
	says    string
	leaves  string // line of what the second unmount leaves mounted
	mounted string // lines of /proc/self/mounts
	down    int    // unmounts
}

// The sectors: that the journal is full, its two, and their places, each in a page of its own so that recovery need not read what it writes.
const (
	full   = 0
	copies = 8
	places = 16
	marked = 40
)

// procMount is the line of what is always mounted.
const procMount = "proc /proc proc rw 0 0\n"

func newJournaled(s *exploretest.System) *journaled {
	j := &journaled{Node: explore.Node{At: "/j", On: []explore.Component{explore.RAMDisk(0, 64<<10)}}, s: s}
	s.Programs["recover"] = func(*exploretest.System, agent.Command) (agent.Exit, error) {
		return agent.Exit{Kernel: j.says}, j.recover()
	}
	s.Perform = func(_ *exploretest.System, op agent.Op) agent.Result {
		if strings.HasPrefix(op.String(), "read ") { // of /proc/self/mounts
			return agent.Result{Data: []byte(procMount + j.mounted)}
		}
		return agent.Result{}
	}
	return j
}

func (j *journaled) write(sector uint64, b byte) error {
	return j.s.Submit(0, ramdisk.Write, 0, sector, bytes.Repeat([]byte{b}, ramdisk.SectorSize))
}

func (j *journaled) flush() error { return j.s.Submit(0, ramdisk.Flush, ramdisk.Preflush, 0, nil) }

func (j *journaled) Recover(e *explore.Env) error {
	_, err := e.Run("recover")
	return err
}

func (j *journaled) recover() error {
	is, err := j.s.Read(0, full)
	if err != nil || is[0] == 0 {
		return err
	}
	for i := range uint64(2) {
		b, err := j.s.Read(0, copies+i)
		if err != nil {
			return err
		}
		if err := j.write(places+8*i, b[0]); err != nil {
			return err
		}
	}
	if j.partial {
		_ = j.write(marked, 1)
	}
	if !j.hasty {
		_ = j.flush()
	}
	_ = j.write(full, 0)
	return j.flush()
}

func (j *journaled) Verify(*explore.Env) error {
	b, err := j.s.Read(0, marked)
	if err == nil && b[0] != 0 {
		err = explore.Failuref("not repaired", "a mark is left")
	}
	return err
}

func (j *journaled) Unmount(*explore.Env) error {
	if j.down++; j.down == 2 {
		j.mounted = j.leaves
	}
	return nil
}

// pair writes both sectors through the journal, and wants them equal after a crash, and there.
type pair struct {
	explore.Plain
	*journaled
}

func (p pair) Mutate(e *explore.Env) error {
	for i := range uint64(2) {
		if err := p.write(copies+i, 7); err != nil {
			return err
		}
	}
	_ = p.flush()
	_ = p.write(full, 1)
	_ = p.flush()
	return e.CheckCrashesNow(nil)
}

func (p pair) Check(*explore.Env, explore.Crash) error {
	for i := range uint64(2) {
		if b, err := p.s.Read(0, places+8*i); err != nil || b[0] != 7 {
			return explore.Failuref("lost", "place %d has %d, %v", i, b[0], err)
		}
	}
	return nil
}

func journal(t *testing.T) (explore.Config, *journaled) {
	t.Helper()
	cfg := toy(t, "", 1, 1)
	s := exploretest.New()
	j := newJournaled(s)
	cfg.System, cfg.Stack, cfg.Depth = s, explore.Stack{Top: j, Checker: pair{journaled: j}}, 1
	return cfg, j
}

func kinds(t *testing.T, cfg explore.Config) (out []string, sum explore.Summary) {
	t.Helper()
	sum, err := explore.Run(context.Background(), cfg)
	if err != nil || !sum.Complete {
		t.Fatal(sum, err)
	}
	for _, e := range sum.Errors {
		out = append(out, e.Kind)
	}
	return out, sum
}

// A recovery that empties its journal too early is sound unless it is cut, and that is found with crashes during recovery alone, pruned or
// not; the folder shows it again.
func TestCrashesDuringRecovery(t *testing.T) {
	for _, hasty := range []bool{false, true} {
		for _, cut := range []bool{false, true} {
			for _, noPrune := range []bool{false, true} {
				cfg, j := journal(t)
				j.hasty, cfg.RecoveryCrashes, cfg.NoPrune = hasty, cut, noPrune
				got, sum := kinds(t, cfg)
				if found := len(got) == 1 && got[0] == "lost"; found != (hasty && cut) || len(got) > 1 {
					t.Errorf("hasty %v, cut %v, not pruned %v: found %v", hasty, cut, noPrune, got)
				}
				if cut && sum.Interrupted == 0 || cut && !noPrune && !hasty && sum.Unread == 0 || noPrune && sum.Unread+sum.Remembered > 0 {
					t.Errorf("hasty %v, cut %v, not pruned %v: %+v", hasty, cut, noPrune, sum.Totals)
				}
				if len(got) == 0 {
					continue
				}
				e, err := explore.ReadError(filepath.Join(cfg.Dir, sum.Errors[0].Dir))
				if err != nil {
					t.Fatal(err)
				}
				if e.Crash.Second == nil || len(e.Crash.Second.Missing) == 0 {
					t.Errorf("the second crash is %+v", e.Crash.Second)
				}
				for range 3 {
					if f, err := explore.Replay(context.Background(), cfg, e); err != nil || f == nil || f.Kind != "lost" {
						t.Errorf("replayed: %v, %v", f, err)
					}
				}
			}
		}
	}
}

// What only the comprehensive check sees is found when that is asked.
func TestVerifyAfterRecovery(t *testing.T) {
	for _, verify := range []bool{false, true} {
		cfg, j := journal(t)
		j.partial, cfg.Verify = true, verify
		got, _ := kinds(t, cfg)
		if found := len(got) == 1 && got[0] == "not repaired"; found != verify {
			t.Errorf("verify %v: found %v", verify, got)
		}
	}
}

// A mount that is still there when all was unmounted is an error, on top of one like it too, and none without.
func TestMountLeft(t *testing.T) {
	for _, leaves := range []string{"", "/dev/fswrd0 /j/below j rw 0 0\n", procMount} {
		cfg, j := journal(t)
		j.leaves = leaves
		cfg.System.(*exploretest.System).Memory = func() func() { return func() { j.mounted = "" } }
		got, _ := kinds(t, cfg)
		if found := len(got) == 1 && got[0] == "mount left"; found != (leaves != "") {
			t.Errorf("it leaves %q: found %v", leaves, got)
		}
	}
}

// What the kernel says while a crash disk is recovered is in the error's folder, also where it is no error by itself.
func TestKernelLogIsKept(t *testing.T) {
	cfg, j := journal(t)
	j.partial, j.says, cfg.Verify = true, "EXT4-fs (fswrd0): recovery complete\n", true
	_, sum := kinds(t, cfg)
	b, err := os.ReadFile(filepath.Join(cfg.Dir, sum.Errors[0].Dir, "kernel.log"))
	if err != nil || !strings.Contains(string(b), "recovered and checked:\n"+j.says) {
		t.Errorf("kernel.log: %s, %v", b, err)
	}
}

// Pruned and not, the loop finds the same errors, and without pruning it recovers no fewer disks.
func TestPrunedRunsFindTheSame(t *testing.T) {
	for _, bug := range []exploretest.Bug{"", exploretest.DroppedFlush, exploretest.EarlySync} {
		var found [2]string
		var recovered [2]uint64
		for i, noPrune := range []bool{false, true} {
			cfg := toy(t, bug, 2, 1)
			cfg.NoPrune, cfg.Crash.Repeats = noPrune, noPrune
			got, sum := kinds(t, cfg)
			found[i], recovered[i] = strings.Join(got, " "), sum.Recovered
		}
		if found[0] != found[1] || (found[0] == "") != (bug == "") || recovered[0] >= recovered[1] {
			t.Errorf("%q: pruned %q of %d disks, not pruned %q of %d", bug, found[0], recovered[0], found[1], recovered[1])
		}
	}
}
