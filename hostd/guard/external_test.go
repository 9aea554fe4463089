package guard_test

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/zap/zaptest"

	"fsward/blocktap"
	"fsward/change"
	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
	"fsward/hostd/offline"
	"fsward/interp/detect"
)

// externalDisks makes an ext3 and its external journal. The loop devices that mke2fs needs are gone
// when it returns.
func externalDisks(t *testing.T, options ...string) []string {
	t.Helper()
	images := guardtest.BlankDisks(t, 2, 128<<20)
	r := guardtest.AttachDisks(t, images, nil)
	r.MustRun(r.DiskVariables() + "OPTIONS='" + strings.Join(options, " ") + `'
		mke2fs -q -F -O journal_dev $OPTIONS $DISK1
		mke2fs -q -F -t ext3 $OPTIONS -J device=$DISK1 $DISK0; sync $DISK0 $DISK1`)
	r.NoAlarm()
	r.End()
	return images
}

// externalLoad makes enough transactions that the log wraps around.
const externalLoad = `
	for i in 1 2 3 4 5 6; do
		rm -rf d$i; mkdir d$i; for n in $(seq 40); do head -c $((n * 900)) /dev/urandom > d$i/f$n; done
		ln d$i/f1 d$i/link; setfattr -n user.x -v $i d$i/f2; sync -f .
		[ $i -lt 3 ] || rm -r d$((i - 2)); sync -f .
	done`

// TestExternalJournal guards a file system and the disk of its journal, from mke2fs on: every
// commit is checked on the journal's disk, and e2fsck finds the result sound. The order of the
// disks does not matter.
func TestExternalJournal(t *testing.T) {
	for _, tc := range []struct{ options, fs, mount string }{
		{"-b 1024", "ext3", "data=ordered"}, {"-b 4096", "ext3", "data=journal"},
		{"-b 2048", "ext4", "data=writeback,journal_checksum"},
	} {
		t.Run(tc.options, func(t *testing.T) {
			images := externalDisks(t, strings.Fields(tc.options)...)
			guardtest.Run(t, "e2fsck", "-fn", "-j", images[1], images[0])
			guardtest.MustHold(t, images)
			guardtest.MustHold(t, []string{images[1], images[0]})
			r := guardtest.AttachDisks(t, images, nil)
			for range 2 {
				if err := r.Mount(tc.fs, append(strings.Split(tc.mount, ","),
					"journal_path="+r.LoopOf(1).LoopDev)...); err != nil {
					r.NoAlarm()
					t.Fatal(err)
				}
				r.MustRun(externalLoad)
				if err := r.Unmount(); err != nil {
					t.Fatal(err)
				}
			}
			if n := r.NoAlarm(); n < 20 {
				t.Errorf("%d commits were checked, want at least 20", n)
			}
			r.End()
			guardtest.Run(t, "e2fsck", "-fn", "-j", images[1], images[0])
			guardtest.MustHold(t, images)
		})
	}
}

// TestExternalJournalMissing gives the disks one by one: the error names the journal.
func TestExternalJournalMissing(t *testing.T) {
	images := externalDisks(t)
	for i, want := range []string{"the disk of the external journal ",
		"the disk of the file system with the external journal "} {
		if _, err := offline.Check(t.Context(), images[i:i+1], detect.Auto,
			guard.RulesConfig{}); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "--disk") {
			t.Errorf("check: %v, want %q", err, want)
		}
		cfg := guard.Config{FS: detect.Auto, Policies: guard.Policies{OnViolation: guard.OnRefuse},
			Disks: []guard.DiskSpec{{Name: filepath.Base(images[i]), Path: images[i]}}}
		if d, err := guard.Open(cfg, zaptest.NewLogger(t)); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("guard: %v, want %q", err, want)
			if err == nil {
				_ = d.Close()
			}
		}
	}
}

// TestExternalJournalDamage writes over the log and over the superblocks of a mounted journal's
// disk: each write is refused.
func TestExternalJournalDamage(t *testing.T) {
	images := externalDisks(t, "-b", "4096")
	r := guardtest.AttachDisks(t, images, nil)
	if err := r.Mount("ext3", "journal_path="+r.LoopOf(1).LoopDev); err != nil {
		t.Fatal(err)
	}
	r.MustRun("echo one > one; sync -f .")
	for _, tc := range []struct {
		at   uint64
		want string
	}{{1024, "ext3/journal-superblock"}, {4096, "ext3/journal-superblock"},
		{8192, "ext3/journal-overwrite"}} {
		if err := overwrite(r.Daemon.Devices()["disk1"], tc.at); err == nil {
			t.Errorf("garbage at %d was not refused", tc.at)
		}
		events := r.Seen.Events()
		if last := events[len(events)-1]; last.Outcome != change.Violated || last.Disk != "disk1" ||
			!strings.Contains(guardtest.TextOf(last), tc.want) || last.Violations[0].Addr != tc.at {
			t.Errorf("want %s at %d of disk1, got %s", tc.want, tc.at, guardtest.TextOf(last))
		}
	}
	r.MustRun("echo two > two; sync -f .")
	if err := r.Unmount(); err != nil {
		t.Fatal(err)
	}
	r.End()
	guardtest.Run(t, "e2fsck", "-fn", "-j", images[1], images[0])
}

// overwrite writes 1 KiB of garbage to a device.
func overwrite(d *blocktap.Device, at uint64) error {
	return d.Do(context.Background(), &blocktap.Request{Op: blocktap.OpWrite, Off: at, Len: 1024,
		Data: bytes.Repeat([]byte("garbage!"), 128)})
}

// TestExternalJournalComes moves the journal of a guarded file system to another disk and away
// again, and takes the disks as a loss of power would leave them: the guard recovers both.
func TestExternalJournalComes(t *testing.T) {
	r := guardtest.AttachDisks(t, guardtest.BlankDisks(t, 2, 128<<20), nil)
	mounted := func(r *guardtest.Rig, script string, options ...string) {
		t.Helper()
		if err := r.Mount("ext3", options...); err != nil {
			r.NoAlarm()
			t.Fatal(err)
		}
		r.MustRun(script)
	}
	unmount := func(r *guardtest.Rig) {
		t.Helper()
		if err := r.Unmount(); err != nil {
			t.Fatal(err)
		}
	}
	r.MustRun(r.DiskVariables() + "mke2fs -q -F -t ext3 -b 4096 $DISK0; sync $DISK0")
	mounted(r, externalLoad)
	unmount(r)
	r.MustRun(r.DiskVariables() + `mke2fs -q -F -b 4096 -O journal_dev $DISK1
		tune2fs -O ^has_journal $DISK0; tune2fs -J device=$DISK1 $DISK0; sync $DISK0 $DISK1`)
	path := "journal_path=" + r.LoopOf(1).LoopDev
	mounted(r, externalLoad, path)
	var crashed []string
	for _, image := range r.Images {
		crashed = append(crashed, filepath.Join(t.TempDir(), filepath.Base(image)))
		guardtest.Run(t, "cp", "--sparse=always", image, crashed[len(crashed)-1])
	}
	unmount(r)
	r.MustRun(r.DiskVariables() + "tune2fs -O ^has_journal $DISK0; tune2fs -j $DISK0; sync $DISK0")
	mounted(r, externalLoad)
	unmount(r)
	r.NoAlarm()
	r.End()
	guardtest.Run(t, "e2fsck", "-fn", r.Images[0])

	guardtest.MustHold(t, crashed)
	after := guardtest.AttachDisks(t, crashed, nil)
	mounted(after, externalLoad, "journal_path="+after.LoopOf(1).LoopDev)
	unmount(after)
	after.NoAlarm()
	after.End()
	guardtest.Run(t, "e2fsck", "-fn", "-j", crashed[1], crashed[0])
}

// TestExternalJournalUnguarded moves the journal to a disk that another daemon guards: the write of
// the superblock is refused, and the file system stays as it was.
func TestExternalJournalUnguarded(t *testing.T) {
	r := guardtest.Attach(t, guardtest.Mkfs(t, "ext3", 64<<20), nil)
	other := guardtest.Attach(t, guardtest.BlankImage(t, 64<<20), nil)
	out, err := r.Run(t.Context(), r.DiskVariables()+"OTHER="+other.LoopDev+`
		mke2fs -q -F -O journal_dev $OTHER; tune2fs -O ^has_journal $DISK0
		tune2fs -J device=$OTHER $DISK0; sync $DISK0`)
	if err == nil {
		t.Errorf("it went through: %s", out)
	}
	refused := 0
	for _, ev := range r.Seen.Events() {
		if ev.Action == guard.Refused && strings.Contains(guardtest.TextOf(ev),
			"the disk of the external journal ") {
			refused++
		}
	}
	if refused == 0 {
		t.Errorf("nothing was refused for the missing disk: %s", out)
	}
	other.NoAlarm()
	other.End()
	r.End()
	guardtest.MustBeClean(t, "ext3", r.Image)
}
