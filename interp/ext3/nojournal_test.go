package ext3

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"fsward/blocktap/fuse/loopmount"
	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

// TestWithoutJournal checks that without a journal, an unmount or a read-only remount is the
// commit. The state that Linux leaves holds, and a damaged file system is not marked clean.
func TestWithoutJournal(t *testing.T) {
	for _, tc := range []struct {
		name string
		mkfs []string
	}{
		{"blocks of 4 KiB", []string{"-b", "4096"}},
		{"revision 0", []string{"-r", "0", "-O", "none", "-b", "1024"}},
		{"blocks of 1 KiB", []string{"-b", "1024", "-I", "128"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			image := filepath.Join(t.TempDir(), "disk.img")
			peer(t, "mkfs.ext2", append(append([]string{"-q", "-F"}, tc.mkfs...), image, "64M")...)
			commits := 0
			f := through(t, image, 0, func(obs interp.Observation) {
				if obs.Note != "" {
					t.Log(obs.Note)
				}
				if obs.Point == interp.CommitPoint {
					commits++
				}
			}, func(loop *loopmount.Loop) {
				for range 2 {
					err := loop.Mount("ext2")
					out, run := loop.Run(context.Background(), workload)
					_, remount := loop.Run(context.Background(),
						`mount -o remount,ro "$FSWARD_DIR"; mount -o remount,rw "$FSWARD_DIR"; rm -rf *`)
					if err := errors.Join(err, run, remount, loop.Unmount()); err != nil {
						t.Errorf("%v\n%s", err, out)
					}
				}
			})
			if commits != 4 {
				t.Errorf("%d commits, want 4", commits)
			}
			peer(t, "e2fsck", "-fn", image)
			damagedIsNotClean(t, image, f)
		})
	}
}

// damagedIsNotClean damages an image and checks that its superblock cannot be marked clean. f has
// followed the image.
func damagedIsNotClean(t *testing.T, image string, f *follower) {
	t.Helper()
	d := OpenImage(t, image)
	mark := func(state byte) interp.Write {
		return superWrite(t, d, func(sb []byte) { sb[ondisk.SuperStateAt] = state })
	}
	d.Apply(mark(0))
	fs, err := New(d)
	if err != nil {
		t.Fatal(err)
	}
	desc, err := ReadBlock(d, f.fs.geo, f.fs.geo.DescBlock(0))
	if err != nil {
		t.Fatal(err)
	}
	d.Apply(interp.Write{Off: f.fs.geo.Addr(ondisk.LE32(desc, ondisk.GroupDescBlockBitmapAt)),
		Len: 1024})
	if obs := fs.Observe(mark(ondisk.StateValid)); len(Judge(f.Rules, obs)) == 0 {
		t.Error("a damaged file system is marked clean without an alarm")
	}
	only(t, fs.Observe(superWrite(t, d, func(sb []byte) { sb[ondisk.SuperInodesPerGroupAt+1]++ })),
		"ext3/superblock")
	if obs := fs.Observe(superWrite(t, d,
		func(sb []byte) { sb[ondisk.SuperUUIDAt]++ })); len(obs.Violations) > 0 {
		t.Errorf("another file system: %v", obs.Violations)
	}
}
