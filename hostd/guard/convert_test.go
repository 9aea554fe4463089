package guard_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"fsward/blocktap"
	"fsward/hostd/guardtest"
)

// afterConversion works on a converted file system, balances it, and removes the image of the
// former one.
const afterConversion = `
	mkdir n; for i in 1 2 3; do head -c 300000 /dev/urandom > n/f$i; done; rm etc/*.conf
	for f in etc/*; do if [ -f "$f" ]; then echo changed >> "$f"; break; fi; done
	sync -f .
	btrfs balance start --full-balance . > /dev/null; sync -f .
	btrfs -q subvolume delete ext2_saved; sync -f .
	btrfs subvolume sync . > /dev/null
	btrfs balance start --full-balance . > /dev/null; sync -f .`

// TestConverted checks a file system that btrfs-convert makes of ext4 and of ext3, before the guard
// attaches and on the guarded disk, with the saved image and without it.
func TestConverted(t *testing.T) {
	source := filepath.Join(t.TempDir(), "source")
	if err := os.MkdirAll(filepath.Join(source, "etc"), 0o755); err != nil {
		t.Fatal(err)
	}
	guardtest.Run(t, "sh", "-c", "cp -r /etc/* "+source+"/etc; ln -s etc "+source+"/link; ln "+
		source+"/etc/passwd "+source+"/hard; truncate -s 5M "+source+"/sparse")
	for name, c := range map[string]struct {
		options []string
		guarded bool // btrfs-convert runs on the guarded disk
	}{
		"ext4":         {[]string{"-t", "ext4"}, false},
		"ext3":         {[]string{"-t", "ext3", "-b", "4096"}, false},
		"guarded ext3": {[]string{"-t", "ext3", "-b", "4096"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			image := guardtest.BlankImage(t, 512<<20)
			guardtest.Run(t, "mke2fs", append(c.options, "-q", "-F", "-d", source, image)...)
			if !c.guarded {
				guardtest.Run(t, "btrfs-convert", image)
				guardtest.MustHold(t, []string{image})
			}
			r := guardtest.Attach(t, image, nil)
			if c.guarded {
				guardtest.Run(t, "btrfs-convert", r.LoopDev)
			}
			r.MustMount("btrfs", "commit=1") // the thread that drops subvolumes runs once a second
			r.MustRun(afterConversion)
			if err := r.Unmount(); err != nil {
				t.Fatal(err)
			}
			if commits := r.NoAlarm(); commits < 4 {
				t.Errorf("%d commits", commits)
			}
			r.End()
			guardtest.MustBeClean(t, "btrfs", image)
			guardtest.MustHold(t, r.Images)
		})
	}
}

// TestConversionIsRolledBack undoes a conversion on the guarded, unmounted disk (btrfs-convert -r),
// which writes the blocks of the former file system over those of Btrfs. The former file system is
// the new baseline. It has a file that is larger than a block group, so that its image has several
// extents.
func TestConversionIsRolledBack(t *testing.T) {
	source := t.TempDir()
	guardtest.Run(t, "sh", "-c", "cp -r /etc/apt "+source+"; head -c 150000000 /dev/urandom > "+
		source+"/large")
	image := guardtest.BlankImage(t, 512<<20)
	guardtest.Run(t, "mke2fs", "-t", "ext3", "-b", "4096", "-q", "-F", "-d", source, image)
	r := guardtest.Attach(t, image, nil)
	guardtest.Run(t, "btrfs-convert", r.LoopDev)
	guardtest.Run(t, "btrfs", "check", r.LoopDev)
	guardtest.Run(t, "btrfs-convert", "-r", r.LoopDev)
	r.NoAlarm()
	guardtest.Run(t, "e2fsck", "-fn", r.LoopDev)
	r.MustMount("ext3")
	r.MustRun("cmp large " + source + "/large; " + guardtest.Filled)
	if err := r.Unmount(); err != nil {
		t.Fatal(err)
	}
	r.NoAlarm()
	r.End()
	guardtest.MustBeClean(t, "ext3", image)
	guardtest.MustHold(t, r.Images)
}

// TestConversionIsRolledBackToExt4 undoes the conversion of a file system that fsward does not
// guard. All of it is written, and the state of the volume names the feature.
func TestConversionIsRolledBackToExt4(t *testing.T) {
	image := guardtest.BlankImage(t, 512<<20)
	guardtest.Run(t, "mke2fs", "-t", "ext4", "-q", "-F", "-d", "/etc/apt", image)
	guardtest.Run(t, "btrfs-convert", image)
	r := guardtest.Attach(t, image, nil)
	guardtest.Run(t, "btrfs-convert", "-r", r.LoopDev)
	guardtest.Run(t, "blockdev", "--flushbufs", r.LoopDev)
	r.NoAlarm()
	guardtest.Run(t, "e2fsck", "-fn", r.LoopDev)
	wait(t, r.Daemon, map[string]string{
		"disk": "unguarded: ext3: extents (incompat flag 0x40) is not supported"})
	r.End()
	guardtest.Run(t, "e2fsck", "-fn", image)
}

// TestRollbackWritesACopyFirst puts back what the former file system of a conversion has in the
// place of a copy of the superblock, before anything else. The page cache of a disk writes what
// btrfs-convert -r wrote in any order. Other data there is refused.
func TestRollbackWritesACopyFirst(t *testing.T) {
	const copyAt, length = 64 << 20, 64 << 10
	source := t.TempDir()
	guardtest.Run(t, "sh", "-c", "head -c 150000000 /dev/urandom > "+source+"/large")
	image := guardtest.BlankImage(t, 512<<20)
	guardtest.Run(t, "mke2fs", "-t", "ext3", "-b", "4096", "-q", "-F", "-d", source, image)
	former := make([]byte, length)
	f, err := os.Open(image)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.ReadAt(former, copyAt); err != nil {
		t.Fatal(err)
	}
	guardtest.Run(t, "btrfs-convert", image)
	r := guardtest.Attach(t, image, nil)
	write := func(data []byte) error {
		return r.Daemon.Devices()["disk"].Do(t.Context(), &blocktap.Request{Op: blocktap.OpWrite,
			Off: copyAt, Len: length, Data: data})
	}
	other := bytes.Clone(former)
	other[100] ^= 1
	if write(other) == nil {
		t.Error("other data over a copy of the superblock passed")
	}
	if err := write(former); err != nil {
		t.Errorf("the blocks of the former file system: %v", err)
	}
}
