package hostd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fsward/blocktap/fuse/loopmount"
	"fsward/change"
)

// filled is a little of everything on a mounted file system.
const filled = `mkdir -p d; cp -r /etc/apt d; for i in 1 2 3 4; do head -c 3000000 /dev/urandom > f$i; done; sync -f .
`

// Devices come and go, change their size and their profiles while the file system is mounted.
func TestDevicesChange(t *testing.T) {
	for _, tc := range []struct {
		name         string
		disks, blank int // with the file system at the start, and besides
		mkfs         string
		script       string // DISK0, DISK1, … are the loop devices
		last         int    // a disk that has the file system in the end
	}{
		{"add and balance to RAID1", 1, 1, "", filled + `btrfs -q device add -f $DISK1 .; sync -f .; echo x > x; sync -f .
			btrfs -q balance start -dconvert=raid1 -mconvert=raid1 .; cp -r d e; sync -f .`, 0},
		{"remove", 2, 0, "-d single -m single", filled + `btrfs -q device remove $DISK1 .; cp -r d e; sync -f .`, 0},
		{"remove the first", 3, 0, "-d raid1 -m raid1", filled + `btrfs -q device remove $DISK0 .; cp -r d e; sync -f .`, 1},
		{"replace", 2, 1, "-d raid1 -m raid1", filled + `btrfs -q replace start -B -f 1 $DISK2 .; cp -r d e; sync -f .; rm -r d; sync -f .`, 1},
		{"resize", 2, 0, "-d raid1 -m raid1", filled + `btrfs -q filesystem resize 2:400M .; btrfs -q filesystem resize 1:450M .; cp -r d e; sync -f .
			btrfs -q filesystem resize 2:max .; sync -f .`, 0},
		{"balance to RAID10 and back", 4, 0, "-d raid1 -m raid1", filled + `btrfs -q balance start -dconvert=raid10 -mconvert=raid10 .; cp -r d e; sync -f .
			btrfs -q balance start -dconvert=raid0 -mconvert=raid1c3 .; rm -r d; sync -f .`, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			images := madeDisks(t, tc.disks, 512<<20, strings.Fields(tc.mkfs)...)
			r := attachDisks(t, append(images, blankDisks(t, tc.blank, 512<<20)...), nil)
			r.mustMount("btrfs")
			r.mustRun(r.diskVariables() + tc.script)
			if err := r.Unmount(); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d commits", r.noAlarm())
			// The program looks at devices that it has not been told to forget.
			run(t, "btrfs", "check", r.loop(tc.last).LoopDev)
			r.close()
		})
	}
}

// A device that is added and not guarded is no part of what can be judged: each commit that needs it is refused, and says which. The
// kernel puts up with a superblock that it cannot write as long as it can write one, and goes on from a commit that the guarded
// disk does not have: the disk keeps what its own last commit needs, data too, and where the kernel's allocator comes to write over
// any of that, it is refused for it.
func TestUnguardedDeviceIsAdded(t *testing.T) {
	r := attach(t, madeDisks(t, 1, 512<<20)[0], nil)
	other := blankDisks(t, 1, 512<<20)[0]
	r.mustMount("btrfs")
	r.mustRun(filled)
	// The balance may go through: what counts is what the guarded disk has in the end.
	_, _ = r.Run(context.Background(), "trap 'losetup -d $DISK1' EXIT; DISK1=$(losetup --find --show --direct-io=on "+other+`)
		btrfs -q device add -f $DISK1 .; btrfs -q balance start -dconvert=raid1 -mconvert=raid1 .; sync -f .
		rm -rf f1 f2 d; i=0; while [ $i -lt 20 ]; do head -c 1000000 /dev/urandom > more$i; sync -f .; i=$((i + 1)); done`)
	commits := 0
	for _, ev := range r.seen.events() {
		text := textOf(ev)
		unguarded := ev.Outcome == change.Undecided && strings.Contains(text, "device 2") && strings.Contains(text, "not among those guarded")
		switch {
		case ev.Action != Refused:
		case ev.Kind == KindCommit && unguarded:
			commits++
		case ev.Kind == KindWrite && unguarded: // of a superblock's copy
		case ev.Kind == KindWrite && commits > 0 && ev.Outcome == change.Violated && strings.Contains(text, "btrfs/base-block"):
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
	r.close()
	run(t, "btrfs", "check", "--check-data-csum", r.image)
	files := t.TempDir()
	run(t, "btrfs", "restore", r.image, files)
	for _, name := range []string{"f1", "f2", "f3", "f4", "d/apt/apt.conf.d"} {
		if _, err := os.Stat(filepath.Join(files, name)); err != nil {
			t.Errorf("what was acknowledged before the device came is lost: %v", err)
		}
	}
}

// Programs write to the unmounted device. What they commit is followed; where one changes the format in
// place or makes another file system, what it has made is read as a new baseline, which is said.
func TestOfflineTools(t *testing.T) {
	for _, tc := range []struct {
		tool     string // a script; DISK0, … are the loop devices
		disks    int
		mkfs     string
		baseline bool // a new one is taken
	}{
		{"btrfstune -f -u $DISK0", 1, "", true},
		{"btrfstune -f -m $DISK0", 1, "", true},
		{"btrfstune -r -x -n $DISK0", 1, "-O ^extref,^skinny-metadata,^no-holes", false},
		{"btrfs check --force --repair $DISK0", 1, "", false},
		{"btrfs check --force --init-csum-tree $DISK0", 1, "", false},
		{"btrfs check --clear-space-cache v2 $DISK0", 1, "", false},
		{"btrfs rescue zero-log $DISK0; btrfs rescue fix-device-size $DISK0; btrfs rescue super-recover -y $DISK0", 1, "", false},
		{"mkfs.btrfs -q -f $DISK0", 1, "", true},
		{"btrfstune -f -u $DISK0", 2, "-d raid1 -m raid1", true},
		{"mkfs.btrfs -q -f -d raid0 -m raid0 $DISK0 $DISK1", 2, "-d raid1 -m raid1", true},
	} {
		t.Run(fmt.Sprintf("%d %s", tc.disks, tc.tool), func(t *testing.T) {
			r := attachDisks(t, madeDisks(t, tc.disks, 256<<20, strings.Fields(tc.mkfs)...), nil)
			r.mustMount("btrfs")
			r.mustRun(filled)
			if err := r.Unmount(); err != nil {
				t.Fatal(err)
			}
			run(t, "sh", "-ec", r.diskVariables()+tc.tool)
			r.mustMount("btrfs")
			r.mustRun(filled)
			appeared := false
			for _, ev := range r.seen.events() {
				appeared = appeared || strings.Contains(ev.Note, "file system appeared")
			}
			if appeared != tc.baseline {
				t.Errorf("a new baseline was told of: %v, want %v", appeared, tc.baseline)
			}
			if commits := r.finish(true); commits < 2 {
				t.Errorf("%d commits", commits)
			}
		})
	}
}

// A bug in a commit to several disks: it is refused on all of them, and they stay at the last good one.
func TestRefusalOnSeveralDisks(t *testing.T) {
	for _, profile := range []string{"raid0", "raid1"} {
		t.Run(profile, func(t *testing.T) {
			images := madeDisks(t, 2, 256<<20, "-d", profile, "-m", profile)
			r := attachDisks(t, images, nil)
			r.mustMount("btrfs")
			r.mustRun("echo one > one; sync -f .; echo two > two; sync -f .")
			if err := r.daemon.Simulator("disk").Arm("inode_item.nlink+1@mode=0o100644"); err != nil {
				t.Fatal(err)
			}
			_, _ = r.Run(context.Background(), "echo three > three; sync -f .")
			if out, err := r.Run(context.Background(), "echo four > four"); err == nil {
				t.Errorf("the file system still takes writes after the refusal: %s", out)
			}
			commits := 0
			on := make(map[string]bool)
			for _, ev := range r.seen.events() {
				if ev.Action != Refused {
					continue
				}
				on[ev.Disk] = true
				if ev.Kind == KindCommit {
					commits++
					if !strings.Contains(textOf(ev), "btrfs/14 ") {
						t.Errorf("refused for another reason: %s", textOf(ev))
					}
				}
			}
			if commits != 1 || !on["disk"] || !on["disk1"] {
				t.Errorf("%d commits were refused, writes on %v: want 1, on both disks; the bug: %q", commits, on, r.daemon.Simulator("disk").Done())
			}
			r.close()

			after := attachDisks(t, images, nil)
			after.mustMount("btrfs")
			if got := after.mustRun("cat one two; ls"); got != "one\ntwo\none\ntwo\n" {
				t.Errorf("on the disks after the refusal: %q", got)
			}
			after.finish(true)
		})
	}
}

// A guard that begins on disks whose superblocks are of different generations, as a loss of power between the
// devices leaves them, goes on from the newest.
func TestAttachAfterCrashBetweenDevices(t *testing.T) {
	for older := range 2 {
		t.Run(fmt.Sprintf("device %d is older", older+1), func(t *testing.T) {
			images := madeDisks(t, 2, 256<<20, "-d", "raid1", "-m", "raid1")
			r := attachDisks(t, images, nil)
			r.mustMount("btrfs")
			r.mustRun("echo one > one; sync -f .")
			before := make([]byte, 4096)
			readAt(t, images[older], before, 64<<10)
			r.mustRun("echo two > two; sync -f .")
			if err := r.Unmount(); err != nil {
				t.Fatal(err)
			}
			r.noAlarm()
			r.close()
			writeAt(t, images[older], before, 64<<10)

			r = attachDisks(t, images, nil)
			r.mustMount("btrfs")
			if got := r.mustRun("cat one two"); got != "one\ntwo\n" {
				t.Errorf("after the crash: %q", got)
			}
			r.mustRun("echo three > three; sync -f .")
			r.finish(true)
		})
	}
}

// loop returns the loop device of disk i.
func (r *rig) loop(i int) *loopmount.Loop {
	return append([]*loopmount.Loop{r.Loop}, r.more...)[i]
}

// diskVariables is shell text that gives the loop devices names.
func (r *rig) diskVariables() string {
	text := "DISK0=" + r.LoopDev + "\n"
	for i, m := range r.more {
		text += fmt.Sprintf("DISK%d=%s\n", i+1, m.LoopDev)
	}
	return text
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
