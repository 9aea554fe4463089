package guard_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fsward/change"
	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
)

// TestDevicesChange adds, removes, resizes and converts devices while the file system is mounted.
// Without -f the tool waits ten seconds before it converts to RAID5 or RAID6.
func TestDevicesChange(t *testing.T) {
	for _, tc := range []struct {
		name         string
		disks, blank int // with the file system at the start, and further disks
		mkfs         string
		script       string // DISK0, DISK1, … are the loop devices
		last         int    // a disk that has the file system in the end
	}{
		{"add and balance to RAID1", 1, 1, "", guardtest.Filled + `
			btrfs -q device add -f $DISK1 .; sync -f .; echo x > x; sync -f .
			btrfs -q balance start -dconvert=raid1 -mconvert=raid1 .; cp -r d e; sync -f .`, 0},
		{"remove", 2, 0, "-d single -m single", guardtest.Filled +
			`btrfs -q device remove $DISK1 .; cp -r d e; sync -f .`, 0},
		{"remove the first", 3, 0, "-d raid1 -m raid1",
			guardtest.Filled + `btrfs -q device remove $DISK0 .; cp -r d e; sync -f .`, 1},
		{"replace", 2, 1, "-d raid1 -m raid1", guardtest.Filled +
			`btrfs -q replace start -B -f 1 $DISK2 .; cp -r d e; sync -f .; rm -r d; sync -f .`, 1},
		{"resize", 2, 0, "-d raid1 -m raid1", guardtest.Filled + `
			btrfs -q filesystem resize 2:400M .; btrfs -q filesystem resize 1:450M .
			cp -r d e; sync -f .
			btrfs -q filesystem resize 2:max .; sync -f .`, 0},
		{"balance to RAID10 and back", 4, 0, "-d raid1 -m raid1", guardtest.Filled + `
			btrfs -q balance start -dconvert=raid10 -mconvert=raid10 .; cp -r d e; sync -f .
			btrfs -q balance start -dconvert=raid0 -mconvert=raid1c3 .; rm -r d; sync -f .`, 0},
		{"balance to RAID5 and RAID6 and back", 4, 0, "-d single -m raid1", guardtest.Filled + `
			btrfs -q balance start -f -dconvert=raid5 -mconvert=raid5 .; cp -r d e; sync -f .
			btrfs -q balance start -f -dconvert=raid6 -mconvert=raid6 .; rm -r d; sync -f .
			btrfs scrub start -B . > /dev/null
			btrfs -q balance start -dconvert=raid1 -mconvert=raid1 .; cp -r e d; sync -f .`, 0},
		{"add, remove and replace under RAID5", 3, 2, "-d raid5 -m raid5", guardtest.Filled + `
			btrfs -q device add -f $DISK3 .; btrfs -q balance start --full-balance .
			cp -r d e; sync -f .
			btrfs -q device remove $DISK0 .; cp -r d f; sync -f .
			btrfs -q replace start -B -f 2 $DISK4 .; rm -r d; sync -f .`, 4},
	} {
		t.Run(tc.name, func(t *testing.T) {
			images := guardtest.MadeDisks(t, tc.disks, 512<<20, strings.Fields(tc.mkfs)...)
			r := guardtest.AttachDisks(t, append(images, guardtest.BlankDisks(t, tc.blank, 512<<20)...), nil)
			r.MustMount("btrfs")
			r.MustRun(r.DiskVariables() + tc.script)
			if err := r.Unmount(); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d commits", r.NoAlarm())
			// btrfs check opens all devices that the kernel has not been told to forget.
			guardtest.Run(t, "btrfs", "check", r.LoopOf(tc.last).LoopDev)
			r.End()
		})
	}
}

// TestSpeculativeOnSeveralDisks checks that commits of a file system on several disks are checked
// while the guest waits for its flushes. The superblocks of a commit go to all disks at once, and a
// forecast is of the one that came first last time, so that not every forecast comes true.
func TestSpeculativeOnSeveralDisks(t *testing.T) {
	images := guardtest.MadeDisks(t, 2, 512<<20, "-d", "raid1", "-m", "raid1")
	r := guardtest.AttachDisks(t, images, nil)
	r.MustMount("btrfs")
	r.MustRun(`for i in $(seq 20); do head -c 30000 /dev/urandom > f$i; sync -f .; done`)
	if err := r.Unmount(); err != nil {
		t.Fatal(err)
	}
	commits, speculated := r.NoAlarm(), 0
	for _, ev := range r.Seen.Events() {
		if ev.Kind == guard.KindCommit && ev.AheadNS > 0 {
			speculated++
		}
	}
	if commits < 20 || speculated == 0 {
		t.Errorf("%d of %d commits were checked before their superblocks came", speculated, commits)
	}
	t.Logf("%d of %d commits were checked before their superblocks came", speculated, commits)
	r.End()
}

// TestUnguardedDeviceIsAdded checks that an unguarded device that is added cannot be judged: each
// commit that needs it is refused, and the refusal names it. The kernel tolerates a superblock that
// it cannot write as long as it can write one. It goes on from a commit that the guarded disk does
// not have. The guarded disk keeps what its own last commit needs, with its data: a write over any
// of that is refused.
func TestUnguardedDeviceIsAdded(t *testing.T) {
	r := guardtest.Attach(t, guardtest.MadeDisks(t, 1, 512<<20)[0], nil)
	other := guardtest.BlankDisks(t, 1, 512<<20)[0]
	r.MustMount("btrfs")
	r.MustRun(guardtest.Filled)
	// The balance may succeed. Only the final contents of the guarded disk count.
	_, _ = r.Run(context.Background(), `
		trap 'losetup -d $DISK1' EXIT
		DISK1=$(losetup --find --show --direct-io=on `+other+`)
		btrfs -q device add -f $DISK1 .
		btrfs -q balance start -dconvert=raid1 -mconvert=raid1 .; sync -f .
		rm -rf f1 f2 d
		for i in $(seq 0 19); do head -c 1000000 /dev/urandom > more$i; sync -f .; done`)
	commits := 0
	for _, ev := range r.Seen.Events() {
		text := guardtest.TextOf(ev)
		unguarded := ev.Outcome == change.Undecided && strings.Contains(text, "device 2") &&
			strings.Contains(text, "not among those guarded")
		switch {
		case ev.Action != guard.Refused:
		case ev.Kind == guard.KindCommit && unguarded:
			commits++
		case ev.Kind == guard.KindWrite && unguarded: // of a superblock's copy
		case ev.Kind == guard.KindWrite && commits > 0 && ev.Outcome == change.Violated &&
			strings.Contains(text, "btrfs/base-block"):
		default:
			t.Errorf("refused for another reason: %s", text)
		}
	}
	if commits == 0 {
		t.Error("no commit was refused")
	}
	if err := r.Unmount(); err != nil {
		t.Fatal(err)
	}
	r.End()
	guardtest.Run(t, "btrfs", "check", "--check-data-csum", r.Image)
	files := t.TempDir()
	guardtest.Run(t, "btrfs", "restore", r.Image, files)
	for _, name := range []string{"f1", "f2", "f3", "f4", "d/apt/apt.conf.d"} {
		if _, err := os.Stat(filepath.Join(files, name)); err != nil {
			t.Errorf("what was acknowledged before the device came is lost: %v", err)
		}
	}
}

// TestOfflineTools runs programs on the unmounted device. Their commits are followed. If a program
// changes the format in place or makes another file system, the result is read as a new baseline,
// and an event says so.
func TestOfflineTools(t *testing.T) {
	for _, tc := range []struct {
		tool     string // a script; DISK0, … are the loop devices
		disks    int
		mkfs     string
		baseline bool // a new baseline is taken
	}{
		{"btrfstune -f -u $DISK0", 1, "", true},
		{"btrfstune -f -m $DISK0", 1, "", true},
		{"btrfstune -r -x -n $DISK0", 1, "-O ^extref,^skinny-metadata,^no-holes", false},
		{"btrfs check --force --repair $DISK0", 1, "", false},
		{"btrfs check --force --init-csum-tree $DISK0", 1, "", false},
		{"btrfs check --clear-space-cache v2 $DISK0", 1, "", false},
		{"btrfs rescue zero-log $DISK0; btrfs rescue fix-device-size $DISK0; " +
			"btrfs rescue super-recover -y $DISK0", 1, "", false},
		{"mkfs.btrfs -q -f $DISK0", 1, "", true},
		{"btrfstune -f -u $DISK0", 2, "-d raid1 -m raid1", true},
		{"mkfs.btrfs -q -f -d raid0 -m raid0 $DISK0 $DISK1", 2, "-d raid1 -m raid1", true},
	} {
		t.Run(fmt.Sprintf("%d %s", tc.disks, tc.tool), func(t *testing.T) {
			r := guardtest.AttachDisks(t, guardtest.MadeDisks(t, tc.disks, 256<<20,
				strings.Fields(tc.mkfs)...), nil)
			r.MustMount("btrfs")
			r.MustRun(guardtest.Filled)
			if err := r.Unmount(); err != nil {
				t.Fatal(err)
			}
			guardtest.Run(t, "sh", "-ec", r.DiskVariables()+tc.tool)
			r.MustMount("btrfs")
			r.MustRun(guardtest.Filled)
			appeared := false
			for _, ev := range r.Seen.Events() {
				appeared = appeared || strings.Contains(ev.Note, "file system appeared")
			}
			if appeared != tc.baseline {
				t.Errorf("a new baseline was told of: %v, want %v", appeared, tc.baseline)
			}
			if commits := finish(r, true); commits < 2 {
				t.Errorf("%d commits", commits)
			}
		})
	}
}

// TestToolOnSeveralDisks runs a program that commits to two unmounted disks, and no commit waits.
// btrfs-progs write the superblock of one disk before they flush the other (write_dev_supers), so
// that the commit is refused unless the kernel has written everything by then. The disks stay sound
// in any case.
func TestToolOnSeveralDisks(t *testing.T) {
	for profile, want := range map[string]string{
		"raid1": "btrfs/copies", "raid0": "btrfs/generation",
	} {
		t.Run(profile, func(t *testing.T) {
			r := guardtest.AttachDisks(t, guardtest.MadeDisks(t, 2, 256<<20, "-O", "^extref", "-d", profile,
				"-m", profile), nil)
			r.MustMount("btrfs")
			r.MustRun(guardtest.Filled)
			if err := r.Unmount(); err != nil {
				t.Fatal(err)
			}
			out, _ := r.Shell(t.Context(), "btrfstune -r "+r.LoopDev)
			for _, ev := range r.Seen.Events() {
				if text := guardtest.TextOf(ev); ev.Action == guard.Refused && !strings.Contains(text, want) {
					t.Errorf("refused for another reason than %s: %s", want, text)
				}
			}
			r.End()
			after := guardtest.AttachDisks(t, r.Images, nil)
			after.MustMount("btrfs")
			after.MustRun(guardtest.Filled)
			if commits := finish(after, true); commits == 0 {
				t.Errorf("no commit; the tool said: %s", out)
			}
		})
	}
}

// TestRefusalOnSeveralDisks simulates a bug in a commit to several disks: the commit is refused on
// all of them, and they stay at the last good one.
func TestRefusalOnSeveralDisks(t *testing.T) {
	for _, profile := range []string{"raid0", "raid1"} {
		t.Run(profile, func(t *testing.T) {
			images := guardtest.MadeDisks(t, 2, 256<<20, "-d", profile, "-m", profile)
			r := guardtest.AttachDisks(t, images, nil)
			r.MustMount("btrfs")
			r.MustRun("echo one > one; sync -f .; echo two > two; sync -f .")
			if err := r.Daemon.Simulator("disk").Arm("inode_item.nlink+1@mode=0o100644"); err != nil {
				t.Fatal(err)
			}
			_, _ = r.Run(context.Background(), "echo three > three; sync -f .")
			if out, err := r.Run(context.Background(), "echo four > four"); err == nil {
				t.Errorf("the file system still takes writes after the refusal: %s", out)
			}
			commits := 0
			on := make(map[string]bool)
			for _, ev := range r.Seen.Events() {
				if ev.Action != guard.Refused {
					continue
				}
				on[ev.Disk] = true
				if ev.Kind == guard.KindCommit {
					commits++
					if !strings.Contains(guardtest.TextOf(ev), "btrfs/14 ") {
						t.Errorf("refused for another reason: %s", guardtest.TextOf(ev))
					}
				}
			}
			if commits != 1 || !on["disk"] || !on["disk1"] {
				t.Errorf("%d commits were refused, writes on %v: want 1, on both disks; the bug: %q", commits,
					on, r.Daemon.Simulator("disk").Done())
			}
			r.End()

			after := guardtest.AttachDisks(t, images, nil)
			after.MustMount("btrfs")
			if got := after.MustRun("cat one two; ls"); got != "one\ntwo\none\ntwo\n" {
				t.Errorf("on the disks after the refusal: %q", got)
			}
			finish(after, true)
		})
	}
}

// TestAttachAfterCrashBetweenDevices attaches a guard to disks whose superblocks have different
// generations, as after a power cut between two devices. The guard starts from the newest.
func TestAttachAfterCrashBetweenDevices(t *testing.T) {
	for older := range 2 {
		t.Run(fmt.Sprintf("device %d is older", older+1), func(t *testing.T) {
			images := guardtest.MadeDisks(t, 2, 256<<20, "-d", "raid1", "-m", "raid1")
			r := guardtest.AttachDisks(t, images, nil)
			r.MustMount("btrfs")
			r.MustRun("echo one > one; sync -f .")
			before := make([]byte, 4096)
			readAt(t, images[older], before, 64<<10)
			r.MustRun("echo two > two; sync -f .")
			if err := r.Unmount(); err != nil {
				t.Fatal(err)
			}
			r.NoAlarm()
			r.End()
			writeAt(t, images[older], before, 64<<10)

			r = guardtest.AttachDisks(t, images, nil)
			r.MustMount("btrfs")
			if got := r.MustRun("cat one two"); got != "one\ntwo\n" {
				t.Errorf("after the crash: %q", got)
			}
			r.MustRun("echo three > three; sync -f .")
			finish(r, true)
		})
	}
}

func readAt(t *testing.T, path string, b []byte, off int64) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.ReadAt(b, off); err != nil {
		t.Fatal(err)
	}
}

func writeAt(t *testing.T, path string, b []byte, off int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(b, off); err != nil {
		t.Fatal(err)
	}
}
