package ext3

import (
	"os"
	"testing"

	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

// TestGrowth lets Linux grow a mounted file system: every commit holds, the followed state equals
// the state that a new reader finds, and e2fsck finds no fault at the end.
func TestGrowth(t *testing.T) {
	for _, tc := range []struct {
		name  string
		mkfs  []string
		sizes []string // of the file system, in steps
	}{
		{"new groups", []string{"-b", "1024"}, []string{"7M", "8M", "9M", "70M"}},
		{"more descriptors", []string{"-b", "1024", "-I", "128"}, []string{"20M", "300M", "700M"}},
		{"descriptors with their groups", []string{"-b", "1024", "-O", "meta_bg,^resize_inode"},
			[]string{"20M", "300M", "700M"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			image := Mkfs(t, tc.sizes[0], append([]string{"-J", "size=2"}, tc.mkfs...)...)
			if err := os.Truncate(image, 700<<20); err != nil {
				t.Fatal(err)
			}
			work := "for i in 1 2 3 4 5 6 7 8 9; do\n" +
				"mkdir d/g$i; head -c 300000 /dev/urandom > d/g$i/f\ndone; sync; rm -r d/g*; sync\n"
			script := "mount -t ext3 /dev/ubda $MNT; cd $MNT; mkdir d\n" + work
			for _, size := range tc.sizes[1:] {
				script += "resize2fs /dev/ubda " + size + "\n" + work
			}
			steps := 0
			f, out := inGuest(t, image, 3, func(obs interp.Observation) {
				if obs.Txn == nil {
					return
				}
				for _, r := range obs.Txn.Records {
					if r.Object.Kind == ondisk.KindSuperblock && r.Field == ondisk.FieldBlocksCount {
						steps++
					}
				}
			}, script+"cd /; umount $MNT")
			if steps < len(tc.sizes)-1 {
				t.Errorf("grew in %d steps\n%s", steps, out)
			}
			peer(t, "e2fsck", "-fn", image)
			d := OpenImage(t, image)
			sb, err := readSuper(d)
			if err != nil || ondisk.LE32(sb, ondisk.SuperBlocksCountAt) != f.fs.geo.Blocks {
				t.Errorf("%d blocks followed, the superblock has %d: %v", f.fs.geo.Blocks, ondisk.LE32(sb,
					ondisk.SuperBlocksCountAt), err)
			}
			t.Logf("%d commits, %d steps", f.commits, steps)
			obs, err := Image(d)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range Judge(Engine(t), obs) {
				t.Error(line)
			}
		})
	}
}
