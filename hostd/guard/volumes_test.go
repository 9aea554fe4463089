package guard_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"fsward/change"
	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
	"fsward/interp/detect"
)

// partitioned partitions a blank disk as an installer does. The kernel of this machine reads no
// partition tables: partx tells it of the partitions.
const partitioned = `
sfdisk -q --no-reread --no-tell-kernel $DISK0 <<'END'
label: gpt
size=64M, type=L
size=160M, type=L
size=16M, type=S
END
partx -a $DISK0
mkfs.ext3 -q ${DISK0}p1
mkfs.btrfs -q ${DISK0}p2
mkswap -q ${DISK0}p3
`

// attachBlank guards a blank disk, and checks the baselines of the file systems that appear on it.
func attachBlank(t *testing.T, size int64, more func(*guard.Config)) *guardtest.Rig {
	t.Helper()
	r := guardtest.Attach(t, guardtest.BlankImage(t, size), func(c *guard.Config) {
		c.Verify = true
		if more != nil {
			more(c)
		}
	})
	return r
}

// on runs a script with the disks' names, in a mount of a partition at $M.
func on(r *guardtest.Rig, partition, script string) (string, error) {
	m := filepath.Join(r.T.TempDir(), "m")
	out, err := r.Run(context.Background(), fmt.Sprintf("%s\nmkdir %s\n"+
		"mount ${DISK0}%s %[2]s\ncd %[2]s\nfailed=0\n(set -e\n%[4]s\n) || failed=1\n"+
		"cd /\numount %[2]s\nexit $failed", r.DiskVariables(), m, partition, script))
	return string(out), err
}

// states returns the states of all volumes by name.
func states(d *guard.Disks) map[string]string {
	out := make(map[string]string)
	for _, s := range d.Status() {
		out[s.Name()] = s.State
	}
	return out
}

// wait waits until the volumes have these states.
func wait(t *testing.T, d *guard.Disks, want map[string]string) {
	t.Helper()
	var got map[string]string
	for range 600 {
		got = states(d)
		if fmt.Sprint(got) == fmt.Sprint(want) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("the volumes are %v, want %v", got, want)
}

// TestBlankDiskIsPartitioned does on a blank, guarded disk what an installer does: a table, an
// ext3, a Btrfs and swap. The guard guards the file systems from then on, each by itself, and
// names what it does not guard.
func TestBlankDiskIsPartitioned(t *testing.T) {
	r := attachBlank(t, 256<<20, nil)
	wait(t, r.Daemon, map[string]string{"disk": "blank"})
	r.MustRun(r.DiskVariables() + partitioned)
	guarded := map[string]string{"disk:p1": "guarded", "disk:p2": "guarded",
		"disk:p3": "unguarded: swap"}
	wait(t, r.Daemon, guarded)
	for _, p := range []string{"p1", "p2"} {
		load := "for i in $(seq 5); do mkdir d$i; seq 100 >d$i/f; sync -f .; done"
		if out, err := on(r, p, load); err != nil {
			t.Fatalf("%s: %v: %s", p, err, out)
		}
	}
	r.NoAlarm()
	for _, s := range r.Daemon.Status() {
		if s.FS != "" && s.Commits < 5 {
			t.Errorf("%s: %d commits", s.Name(), s.Commits)
		}
	}
	if err := r.Daemon.Simulator("disk").ArmVolume("p1", "inode.links_count+1"); err != nil {
		t.Fatal(err)
	}
	if out, err := on(r, "p1", "echo x >d1/g; sync -f ."); err == nil {
		t.Errorf("the corrupted commit was not refused: %s", out)
	}
	if out, err := on(r, "p2", "echo x >d1/g; sync -f ."); err != nil {
		t.Errorf("the other volume does not go on: %v: %s", err, out)
	}
	var refused []string
	for _, ev := range r.Seen.Events() {
		if ev.Action == guard.Refused {
			refused = append(refused, ev.Volume+" "+ev.Outcome.String())
		}
	}
	if len(refused) == 0 || refused[0] != "p1 violated" {
		t.Errorf("refused: %v", refused)
	}
	wait(t, r.Daemon, guarded)
	r.MustRun("partx -d " + r.LoopDev)
	r.End()
	again := guardtest.Attach(t, r.Image, verify)
	defer again.End()
	wait(t, again.Daemon, guarded)
}

// TestTableChanges checks that the guard follows changes of a table while volumes are in use.
func TestTableChanges(t *testing.T) {
	r := attachBlank(t, 1<<30, nil)
	r.MustRun(r.DiskVariables() + `
sfdisk -q --no-reread --no-tell-kernel $DISK0 <<'END'
label: dos
size=64M, type=83
END
partx -a $DISK0
mkfs.ext3 -q ${DISK0}p1`)
	wait(t, r.Daemon, map[string]string{"disk:p1": "guarded"})
	if out, err := on(r, "p1", "echo x >f; sync -f .\n"+
		"echo 'size=300M' | sfdisk -q --no-reread --no-tell-kernel --force -a $DISK0\n"+
		"partx -a -n 2 $DISK0\necho y >g; sync -f ."); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	wait(t, r.Daemon, map[string]string{"disk:p1": "guarded", "disk:p2": "blank"})
	// the second partition grows, and with it its file system
	r.MustRun(r.DiskVariables() + "mkfs.btrfs -q ${DISK0}p2")
	wait(t, r.Daemon, map[string]string{"disk:p1": "guarded", "disk:p2": "guarded"})
	r.MustRun(r.DiskVariables() + `echo ', +' | sfdisk -q --no-reread --no-tell-kernel -N 2 $DISK0
partx -u -n 2 $DISK0`)
	if out, err := on(r, "p2", "btrfs filesystem resize max . && echo x >f && sync -f ."); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r.NoAlarm()
	r.MustRun(r.DiskVariables() + "partx -d $DISK0; wipefs -q -a $DISK0")
	wait(t, r.Daemon, map[string]string{"disk": "unguarded: its content is of no known kind"})
}

// TestUnguardedIsRefused checks that --unguarded refuse refuses writes that would not be judged,
// and that a guard of nothing but swap does not start.
func TestUnguardedIsRefused(t *testing.T) {
	r := attachBlank(t, 128<<20, func(c *guard.Config) { c.Unguarded = guard.UnguardedRefuse })
	out, err := r.Run(context.Background(), r.DiskVariables()+"mkfs.ext4 -q $DISK0 && sync $DISK0")
	if err == nil {
		t.Errorf("mkfs.ext4 was not refused: %s", out)
	}
	if s := r.Daemon.Outcome(); s != change.Undecided {
		t.Errorf("the outcome is %s", s)
	}
	image := guardtest.BlankImage(t, 64<<20)
	guardtest.Run(t, "mkswap", "-q", image)
	cfg := guard.Config{FS: "auto", Policies: guard.Policies{OnViolation: guard.OnRefuse},
		Disks: []guard.DiskSpec{{Name: "disk", Path: image}}}
	if _, err := guard.Open(cfg, nil); err == nil || !strings.Contains(err.Error(),
		image+": swap") {
		t.Errorf("a guard of swap: %v", err)
	}
}

// TestManyVolumes guards a disk with six partitions. The baselines are checked one after the
// other, so that many volumes do not take many times the memory.
func TestManyVolumes(t *testing.T) {
	const n = 6
	disks := manyVolumes(t, n)
	guarded := 0
	var before map[string]bool // running, in the status before
	for begin := time.Now(); guarded < n && time.Since(begin) < time.Minute; {
		guarded = 0
		running, both := map[string]bool{}, 0
		for _, s := range disks.Status() {
			if s.State == "guarded" {
				guarded++
			}
			if b := s.Baseline; b != nil && (b.Phase == guard.PhaseReading ||
				b.Phase == guard.PhaseJudging) {
				running[s.Volume] = true
				if before[s.Volume] {
					both++
				}
			}
		}
		// One status asks each volume in turn: a check may end, and the next one begin, meanwhile. Those
		// that two statuses have ran at one time, between them.
		if both > 1 {
			t.Fatalf("%d checks of a baseline run at a time: %v", both, running)
		}
		before = running
		time.Sleep(100 * time.Microsecond)
	}
	if guarded != n {
		t.Errorf("%d of %d volumes are guarded: %v", guarded, n, states(disks))
	}
}

// TestAnotherContentComes checks that a guest may make something else of an unmounted file system,
// also with a program that does not erase the superblock before, and that the guard names it.
func TestAnotherContentComes(t *testing.T) {
	for _, tc := range []struct{ fs, script, state string }{
		{"ext3", "mkfs.vfat $DISK0", "unguarded: vfat"},
		{"ext3", "wipefs -q -a $DISK0; mkswap -q $DISK0", "unguarded: swap"},
		{"ext3", "mkfs.btrfs -q -f $DISK0", "guarded"},
		{"btrfs", "mkfs.vfat $DISK0", "unguarded: vfat"},
		{"btrfs", "wipefs -q -a $DISK0; mkswap -q $DISK0", "unguarded: swap"},
		{"btrfs", "mkfs.ext3 -q -F $DISK0", "guarded"},
	} {
		t.Run(tc.fs+", "+tc.script, func(t *testing.T) {
			r := guardtest.Attach(t, guardtest.Mkfs(t, tc.fs, 256<<20), nil)
			r.MustMount(tc.fs)
			r.MustRun("echo x >f; sync -f .")
			if err := r.Unmount(); err != nil {
				t.Fatal(err)
			}
			r.MustRun(r.DiskVariables() + tc.script + "; sync $DISK0")
			r.NoAlarm()
			wait(t, r.Daemon, map[string]string{"disk": tc.state})
		})
	}
}

// TestBaselineOfAVolumeNamesTheDisk checks that a finding of a baseline names the address on the
// disk, not the one in the volume.
func TestBaselineOfAVolumeNamesTheDisk(t *testing.T) {
	const start, bitmapPadding = 8 << 20, "ext3/bitmap-padding"
	image := filepath.Join(t.TempDir(), "disk.img")
	guardtest.Run(t, "sh", "-ec", `truncate -s 24M $0
printf 'label: gpt\nstart=8M, size=8M\n' | sfdisk -q $0
cd $(dirname $0); truncate -s 8M part; mkfs.ext3 -q -F -b 1024 part
block=$(dumpe2fs part 2>/dev/null | sed -n 's/.*Block bitmap at \([0-9]*\).*/\1/p' | head -1)
printf '\177' | dd of=part bs=1 seek=$((block*1024+1023)) conv=notrunc status=none
dd if=part of=$0 bs=1M seek=8 conv=notrunc status=none`, image)
	seen := &guardtest.Recorder{}
	disks, err := guard.Open(guard.Config{FS: detect.Auto, Verify: true, Sinks: []guard.Sink{seen},
		Policies: guard.Policies{OnViolation: guard.OnRefuse},
		Disks:    []guard.DiskSpec{{Name: "disk", Path: image}}}, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	defer disks.Close()
	wait(t, disks, map[string]string{"disk:p1": "baseline failed"})
	for _, ev := range seen.Events() {
		for _, v := range ev.Violations {
			if v.Rule == bitmapPadding && v.Addr >= start && v.Disk == "" {
				return
			}
			t.Errorf("%s at %d of %q", v.Rule, v.Addr, v.Disk)
		}
	}
	t.Error("no bitmap was found that is wrong on the disk")
}

// TestWhatIsThereInstead checks that a guard that finds no file system says what the disk holds.
func TestWhatIsThereInstead(t *testing.T) {
	for _, tc := range []struct{ name, fs, requested, zeroed, want string }{
		{"another file system", "btrfs", "ext3", "", "btrfs, and --fs is ext3"},
		{"another file system", "ext3", "btrfs", "", "ext3, and --fs is btrfs"},
		{"no primary superblock", "btrfs", "auto", "65536", "a backup of that of btrfs at byte 67108864"},
		{"no primary superblock", "ext3", "auto", "1024", "a backup of that of ext3 at byte 8389632"},
	} {
		t.Run(tc.name+", "+tc.fs, func(t *testing.T) {
			image := guardtest.Mkfs(t, tc.fs, 128<<20)
			if tc.zeroed != "" {
				guardtest.Run(t, "dd", "if=/dev/zero", "of="+image, "bs=1", "count=1024", "seek="+tc.zeroed,
					"conv=notrunc", "status=none")
			}
			d, err := guard.Open(guard.Config{FS: tc.requested,
				Policies: guard.Policies{OnViolation: guard.OnRefuse},
				Disks:    []guard.DiskSpec{{Name: "disk", Path: image}}}, zap.NewNop())
			if err == nil {
				t.Errorf("it starts: %v", states(d))
				_ = d.Close()
			} else if !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), image) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
}
