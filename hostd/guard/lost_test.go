package guard_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"fsward/change"
	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
	"fsward/hostd/offline"
	"fsward/interp/detect"
)

// TestLostDisk loses the first disks of an array. The guest mounts it with the option degraded,
// changes it, and puts a new disk in the place of the lost one, or does without.
func TestLostDisk(t *testing.T) {
	for _, tc := range []struct {
		name        string
		disks, lost int
		mkfs        string
		script      string // DISK0, … are the loop devices that are left, and then a blank one
		whole       bool   // in the end
	}{
		{"replace under RAID1", 2, 1, "-d raid1 -m raid1",
			`btrfs -q replace start -B -f 1 $DISK1 .; cp -r d g; sync -f .; rm -r e; sync -f .`, true},
		{"replace under RAID10", 4, 1, "-d raid10 -m raid10",
			`btrfs -q replace start -B -f 1 $DISK3 .; cp -r d g; sync -f .; rm -r e; sync -f .`, true},
		{"replace under RAID6", 4, 1, "-d raid1 -m raid6",
			`btrfs -q replace start -B -f 1 $DISK3 .; cp -r d g; sync -f .; rm -r e; sync -f .`, true},
		{"add and remove", 2, 1, "-d raid1 -m raid1", `btrfs -q device add -f $DISK1 .; sync -f .
			btrfs -q device remove missing .; cp -r d g; sync -f .`, true},
		{"stay degraded", 4, 3, "-d raid1c4 -m raid1c4",
			`btrfs -q subvolume snapshot . s; rm s/f1; sync -f .; cp -r d g; sync -f .`, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := guardtest.AttachDisks(t, guardtest.MadeDisks(t, tc.disks, 512<<20,
				strings.Fields(tc.mkfs)...), nil)
			r.MustMount("btrfs")
			r.MustRun(guardtest.Filled)
			mustUnmount(r)
			r.End()
			images := slices.Concat(r.Images[tc.lost:], guardtest.BlankDisks(t, 1, 512<<20))

			r = guardtest.AttachDisks(t, images, func(c *guard.Config) { c.Degraded, c.Verify = true, true })
			found := guardtest.TextOf(r.Seen.Events()[0])
			if !strings.Contains(found, "degraded: device 1 (uuid") {
				t.Errorf("the guard began with: %s", found)
			}
			r.MustMount("btrfs", "degraded")
			r.MustRun(r.DiskVariables() + "cp -r d e; rm f2; sync -f .\n" + tc.script)
			if ev := baselineOn(r, 0, 2*time.Minute); ev.Outcome != change.Holds {
				t.Errorf("the baseline: %s", guardtest.TextOf(ev))
			}
			if state := r.Daemon.Status()[0].State; strings.Contains(state, "degraded") == tc.whole {
				t.Errorf("the state is %q", state)
			}
			mustUnmount(r)
			if commits := r.NoAlarm(); commits < 4 {
				t.Errorf("%d commits", commits)
			}
			if tc.whole {
				guardtest.Run(t, "btrfs", "check", r.LoopDev)
			}
			r.End()
			if !tc.whole {
				images = images[:1]
			}
			mustHoldDegraded(t, images, !tc.whole)
		})
	}
}

// mustHoldDegraded checks the file system on images offline. It may lack disks if degraded is set.
func mustHoldDegraded(t *testing.T, images []string, degraded bool) {
	t.Helper()
	cfg := offline.CheckConfig{FS: detect.Auto, Degraded: degraded}
	_, err := offline.CheckVolumes(t.Context(), images, cfg, func(*guard.Progress) {},
		func(ev *guard.Event) {
			if ev.Outcome != change.Holds {
				t.Errorf("offline: %s", guardtest.TextOf(ev))
			}
		})
	if err != nil {
		t.Error(err)
	}
}

// TestRefusalWithLostDisk simulates a bug in a commit of an array that lacks a disk: the commit is
// refused.
func TestRefusalWithLostDisk(t *testing.T) {
	images := guardtest.MadeDisks(t, 2, 256<<20, "-d", "raid1", "-m", "raid1")
	r := guardtest.Attach(t, images[1], func(c *guard.Config) { c.Degraded = true })
	r.MustMount("btrfs", "degraded")
	r.MustRun("echo one > one; sync -f .")
	if err := r.Daemon.Simulator("disk").Arm("inode_item.nlink+1@mode=0o100644"); err != nil {
		t.Fatal(err)
	}
	_, _ = r.Run(context.Background(), "echo two > two; sync -f .")
	refused := 0
	for _, ev := range r.Seen.Events() {
		if ev.Kind == guard.KindCommit && ev.Action == guard.Refused &&
			strings.Contains(guardtest.TextOf(ev), "btrfs/14 ") {
			refused++
		}
	}
	if refused != 1 {
		t.Errorf("%d commits were refused, want 1; the bug: %q", refused,
			r.Daemon.Simulator("disk").Done())
	}
}
