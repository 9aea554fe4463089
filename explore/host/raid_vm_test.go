//go:build vmtest

package host

import (
	"context"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/component"
	"fsward/explore/crash"
	"fsward/explore/machine"
	"fsward/explore/ramdisk"
	"fsward/explore/spec"
)

// mirrored is a checker: data that was written and synced is there after a crash, and the mirrors
// of the array are equal.
type mirrored struct {
	explore.Plain
	at     string
	during bool // also crash during the sync
}

func (m mirrored) Mutate(e *explore.Env) error {
	begin, end := func(any) error { return nil }, e.CheckCrashesNow
	if m.during {
		begin, end = e.CheckCrashesStart, e.CheckCrashesEnd
	}
	if err := begin(nil); err != nil {
		return err
	}
	if _, err := e.Do(agent.Open(0, m.at+"/file", unix.O_CREAT|unix.O_WRONLY, 0o644),
		agent.Fill(0, 0, 8192, 1), agent.Fsync(0)); err != nil {
		return err
	}
	return end(nil)
}

func (m mirrored) Check(e *explore.Env, c explore.Crash) error {
	if c.Epoch == explore.End {
		data, err := e.ReadFile(m.at + "/file")
		want := make([]byte, 8192)
		agent.Pattern(want, 0, 1)
		if err != nil || string(data) != string(want) {
			return explore.Failuref("synced file lost", "it has %d bytes, %v", len(data), err)
		}
	}
	if err := e.Sh("echo check > /sys/block/md0/md/sync_action; mdadm --wait /dev/md0; " +
		"n=$(cat /sys/block/md0/md/mismatch_cnt); [ $n = 0 ]"); err != nil {
		return explore.Failuref("mirrors differ", "%v", err)
	}
	return nil
}

// unreadable is a checker: when one disk cannot read a sector, the array reads it from the other
// disk and rewrites it, and drops no disk. Linux 2.6 dropped the whole disk (EXPLODE, 9.1).
type unreadable struct {
	explore.Plain
	at    string
	ops   []ramdisk.Op // operations that fail
	times uint64
}

func (u unreadable) Mutate(e *explore.Env) error {
	if _, err := e.Do(agent.Open(0, u.at+"/file", unix.O_CREAT|unix.O_WRONLY, 0o644),
		agent.Fill(0, 0, 8192, 1), agent.Fsync(0)); err != nil {
		return err
	}
	for disk := range uint32(2) {
		// The array reads a write-mostly disk only if it cannot read another one.
		if err := e.Sh("cd /sys/block/md0/md; echo -writemostly > dev-fswrd%d/state; "+
			"echo writemostly > dev-fswrd%d/state", disk, 1-disk); err != nil {
			return err
		}
		rule := ramdisk.Rule{Action: ramdisk.Fail, Ops: u.ops, Error: uint32(unix.EIO), Nth: 1,
			Times: u.times}
		if _, err := e.Do(agent.DropCaches(), agent.DiskInject(disk, rule)); err != nil {
			return err
		}
		if err := e.Sh("cat %s/file > /dev/null", u.at); err != nil {
			return explore.Failuref("unreadable", "a sector of disk %d: %v", disk, err)
		}
		if _, err := e.Do(agent.DiskClear(disk)); err != nil {
			return err
		}
		if err := e.Sh("n=$(cat /sys/block/md0/md/degraded); [ $n = 0 ]"); err != nil {
			return explore.Failuref("disk dropped", "disk %d because of one sector: %v", disk, err)
		}
		if err := e.Sh("dmesg | grep -q 'read error corrected .* on fswrd%d'", disk); err != nil {
			return fmt.Errorf("disk %d was not read: %w", disk, err)
		}
	}
	return nil
}

func (unreadable) Check(*explore.Env, explore.Crash) error { return nil }

// array is a RAID array that is recovered in another way, or whose disks drop flushes.
type array struct {
	*component.Component
	recovered string   // shell command that replaces the recovery; "": none
	flushless []uint32 // disks that drop all flushes
}

func (a array) Mount(e *explore.Env) error {
	for _, disk := range a.flushless {
		rule := ramdisk.Rule{Action: ramdisk.DropFlush, Nth: 1, Times: 1 << 40}
		if _, err := e.Do(agent.DiskClear(disk), agent.DiskInject(disk, rule)); err != nil {
			return err
		}
	}
	return a.Component.Mount(e)
}

func (a array) Recover(e *explore.Env) error {
	if a.recovered == "" {
		return a.Component.Recover(e)
	}
	return e.Sh("%s", a.recovered)
}

// replaceDisk returns the shell command of a recovery after which the disk lost is an empty new
// disk.
func replaceDisk(lost, kept int) string {
	return fmt.Sprintf("dd if=/dev/zero of=/dev/fswrd%d bs=64k count=128 2> /dev/null; "+
		"mdadm --assemble --quiet --run /dev/md0 /dev/fswrd%d && "+
		"mdadm --add --quiet /dev/md0 /dev/fswrd%[1]d && { mdadm --wait /dev/md0; [ $? -le 1 ]; }",
		lost, kept)
}

// assumeClean is the shell command of a recovery that creates the array again without a resync.
const assumeClean = "mdadm --create --quiet --run --assume-clean /dev/md0 -l raid1 -n 2 " +
	"/dev/fswrd0 /dev/fswrd1"

// raidAt is where the file system on the array is mounted.
const raidAt = "/mnt/a"

// A raidCase is one exploration of ext3 on a RAID array.
type raidCase struct {
	name    string
	array   array
	checker explore.Checker
	limit   int    // number of crash states at one moment
	account bool   // durability accounting is on
	found   string // kind of the only error; "": none
}

var raidCases = []raidCase{
	{name: "as it is", checker: mirrored{at: raidAt, during: true}, limit: 1, account: true},
	{name: "disk 0 replaced", array: array{recovered: replaceDisk(0, 1)},
		checker: mirrored{at: raidAt}, limit: 4},
	{name: "disk 1 replaced", array: array{recovered: replaceDisk(1, 0)},
		checker: mirrored{at: raidAt}, limit: 4},
	{name: "created again and assumed clean", array: array{recovered: assumeClean},
		checker: mirrored{at: raidAt, during: true}, limit: 1, found: "mirrors differ"},
	// A resync copies the first disk, whatever it holds.
	{name: "disk 0 drops flushes", array: array{flushless: []uint32{0}},
		checker: mirrored{at: raidAt}, limit: 4, found: "synced file lost"},
	// No crash shows this, but durability accounting does.
	{name: "disk 1 drops flushes", array: array{flushless: []uint32{1}},
		checker: mirrored{at: raidAt}, limit: 4, account: true, found: "not flushed: fsync"},
	{name: "a sector cannot be read",
		checker: unreadable{at: raidAt, ops: []ramdisk.Op{ramdisk.Read}, times: 2}},
	{name: "a sector can be neither read nor written", found: "disk dropped",
		checker: unreadable{at: raidAt, ops: []ramdisk.Op{ramdisk.Read, ramdisk.Write}, times: 64}},
}

// TestGuestRAID explores the stack of the documentation, ext3 on a mirror of two disks.
func TestGuestRAID(t *testing.T) {
	inGuest(t, 20*time.Minute, func(ctx context.Context, m *machine.Machine) error {
		s, err := spec.Read("../../docs/examples/raid.yaml")
		if err != nil {
			t.Fatal(err)
		}
		s.Disks = []spec.Bytes{8 << 20, 8 << 20}
		for _, c := range raidCases {
			t.Run(c.name, func(t *testing.T) { c.explore(ctx, t, m, s) })
		}
		return nil
	})
}

// explore explores the stack with the array of the case, and checks the error that is found.
func (c raidCase) explore(ctx context.Context, t *testing.T, m *machine.Machine, s spec.Spec) {
	top, err := s.Components()
	if err != nil {
		t.Fatal(err)
	}
	account := top.NewAccount()
	c.array.Component = top.On[0].(*component.Component)
	top.On[0] = c.array
	cfg := explore.Config{System: m, Dir: t.TempDir(),
		Stack: explore.Stack{Top: top, Checker: c.checker}, Strategy: explore.BreadthFirst,
		Depth: 1, Crash: crash.Options{Limit: c.limit}}
	if c.account {
		cfg.NewAccount = account
	}
	began := time.Now()
	sum, err := explore.Run(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%.1f s: %+v", time.Since(began).Seconds(), sum.Totals)
	kind := ""
	for _, e := range sum.Errors {
		t.Logf("%s: %s", e.Kind, e.Summary)
		kind = e.Kind
	}
	if kind != c.found || len(sum.Errors) > 1 || !sum.Complete || sum.Diverged != 0 ||
		c.limit > 0 && sum.Recovered == 0 {
		t.Errorf("found %q, want %q", kind, c.found)
	}
}
