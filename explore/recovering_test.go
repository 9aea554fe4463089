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

// A journaled component keeps two sectors that must be equal. They are written to a journal first,
// and recovery copies them to their home sectors.
type journaled struct {
	explore.Node
	s *exploretest.System

	hasty   bool   // recovery empties the journal before it flushes the home sectors
	partial bool   // recovery leaves a mark that only Verify sees
	logs    string // the kernel's log of a recovery
	leaves  string // line of the mount that the second unmount leaves
	mounted string // lines of /proc/self/mounts beside procMount
	down    int    // unmounts
}

// The sectors. Each home sector has its own page, so that recovery does not read the pages that it
// writes.
const (
	full   = 0 // not 0: the journal is full
	copies = 8 // the first of the two sectors of the journal
	homes  = 16
	marked = 40
)

// procMount is the line of a mount that always exists.
const procMount = "proc /proc proc rw 0 0\n"

func newJournaled(s *exploretest.System) *journaled {
	disk := explore.RAMDisk(0, 64<<10)
	j := &journaled{Node: explore.Node{At: "/j", On: []explore.Component{disk}}, s: s}
	s.Programs["recover"] = func(*exploretest.System, agent.Command) (agent.Exit, error) {
		return agent.Exit{Kernel: j.logs}, j.recover()
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
	b, err := j.s.Read(0, full)
	if err != nil || b[0] == 0 {
		return err
	}
	for i := range uint64(2) {
		b, err := j.s.Read(0, copies+i)
		if err != nil {
			return err
		}
		if err := j.write(homes+8*i, b[0]); err != nil {
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

// A pair is a checker that writes both sectors through the journal, and expects both after a crash.
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
		if b, err := p.s.Read(0, homes+8*i); err != nil || b[0] != 7 {
			return explore.Failuref("lost", "home sector %d has %d, %v", i, b[0], err)
		}
	}
	return nil
}

// journal returns a configuration for a journaled component, with a pair as its checker.
func journal(t *testing.T) (explore.Config, *journaled) {
	t.Helper()
	cfg := toy(t, "", 1, 1)
	s := exploretest.New()
	j := newJournaled(s)
	cfg.System, cfg.Stack, cfg.Depth = s, explore.Stack{Top: j, Checker: pair{journaled: j}}, 1
	return cfg, j
}

// kinds runs a configuration to its end, and returns the kinds of the errors.
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

// TestCrashesDuringRecovery checks that a recovery that empties its journal too early fails only if
// it is interrupted. So the explorer finds that with crashes during recovery only, with and without
// pruning, and the error replays.
func TestCrashesDuringRecovery(t *testing.T) {
	for _, hasty := range []bool{false, true} {
		for _, interrupt := range []bool{false, true} {
			for _, noPrune := range []bool{false, true} {
				name := fmt.Sprintf("hasty=%v,interrupt=%v,noPrune=%v", hasty, interrupt, noPrune)
				t.Run(name, func(t *testing.T) { testRecoveryCrash(t, hasty, interrupt, noPrune) })
			}
		}
	}
}

func testRecoveryCrash(t *testing.T, hasty, interrupt, noPrune bool) {
	cfg, j := journal(t)
	j.hasty, cfg.RecoveryCrashes, cfg.NoPrune = hasty, interrupt, noPrune
	got, sum := kinds(t, cfg)
	found := len(got) == 1 && got[0] == "lost"
	if found != (hasty && interrupt) || len(got) > 1 {
		t.Errorf("found %v", got)
	}
	if interrupt && sum.Interrupted == 0 {
		t.Errorf("no recovery was interrupted: %+v", sum.Totals)
	}
	if interrupt && !noPrune && !hasty && sum.Unread == 0 || noPrune && sum.Unread+sum.Remembered > 0 {
		t.Errorf("wrong number of pruned states: %+v", sum.Totals)
	}
	if len(got) == 0 {
		return
	}
	e := readError(t, cfg, sum, 0)
	if e.Crash.Second == nil || len(e.Crash.Second.Missing) == 0 {
		t.Errorf("the second crash is %+v", e.Crash.Second)
	}
	for range 3 {
		if kind := replay(t, cfg, e); kind != "lost" {
			t.Errorf("replay shows %q", kind)
		}
	}
}

// TestVerifyAfterRecovery checks that with Verify, the explorer finds a failure that only the
// Verifier sees.
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

// TestMountLeft checks that a mount that is left after everything was unmounted is a failure, also
// if its line equals that of an earlier mount.
func TestMountLeft(t *testing.T) {
	for _, leaves := range []string{"", "/dev/fswrd0 /j/below j rw 0 0\n", procMount} {
		cfg, j := journal(t)
		j.leaves = leaves
		system(cfg).Memory = func() func() { return func() { j.mounted = "" } }
		got, _ := kinds(t, cfg)
		if found := len(got) == 1 && got[0] == "mount left"; found != (leaves != "") {
			t.Errorf("unmount leaves %q: found %v", leaves, got)
		}
	}
}

// TestKernelLogIsKept checks that the error's folder has the kernel's log of the recovery of a
// crash state, even if the log shows no failure.
func TestKernelLogIsKept(t *testing.T) {
	cfg, j := journal(t)
	j.partial, j.logs, cfg.Verify = true, "EXT4-fs (fswrd0): recovery complete\n", true
	_, sum := kinds(t, cfg)
	b, err := os.ReadFile(filepath.Join(cfg.Dir, sum.Errors[0].Dir, "kernel.log"))
	if err != nil || !strings.Contains(string(b), "recovered and checked:\n"+j.logs) {
		t.Errorf("kernel.log: %s, %v", b, err)
	}
}

// TestPrunedRunsFindTheSame checks that runs with and without pruning find the same errors. Runs
// without pruning recover more crash states.
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
			t.Errorf("%q: with pruning %q after %d recoveries, without %q after %d",
				bug, found[0], recovered[0], found[1], recovered[1])
		}
	}
}
