package ext3

import (
	"bytes"
	"os"
	"testing"

	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

// TestSuperCopies mounts a file system after resize2fs, which leaves a wrong count of blocks that
// hold no data. Linux then updates the copies of the superblock, the later ones without the
// journal. That is no fault; any other change of them is.
func TestSuperCopies(t *testing.T) {
	image := Mkfs(t, "512M", "-b", "1024")
	base := bytes.Clone(ReadFile(t, image))
	for _, group := range []int{0, 1, 3, 5, 7, 9, 25, 27, 49} {
		base[(group*8192+1)*1024+584]++ // s_overhead_clusters
	}
	if err := os.WriteFile(image, base, 0o600); err != nil {
		t.Fatal(err)
	}
	f := Follow(t, image, 1, nil, nil, "echo x > file; sync -f .")
	peer(t, "e2fsck", "-fn", image)

	d := NewDisk(bytes.NewReader(base), uint64(len(base)))
	fs, err := New(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range f.Writes {
		if block := uint32(w.Off / 1024); fs.m != nil && fs.geo.InRange(block) &&
			fs.geo.IsSuperCopy(block) {
			if committed, err := fs.m.State.Block(block); err != nil {
				t.Fatal(err)
			} else if !bytes.Equal(committed, w.Data[:1024]) {
				t.Logf("the copy of group %d", fs.geo.GroupOf(block))
				alterSuperCopy(t, fs, w)
				return
			}
		}
		fs.Observe(w)
		d.Apply(w)
		fs.Settle(true)
	}
	t.Error("Linux wrote no copy of the superblock past the journal")
}

func alterSuperCopy(t *testing.T, fs *FS, w interp.Write) {
	for _, tc := range []struct {
		name  string
		alter func(b []byte)
		holds bool
	}{
		{"as Linux wrote it", func([]byte) {}, true},
		{"the label", func(b []byte) { copy(b[120:], "label") }, true},
		{"before the file system grew by a group", func(b []byte) {
			put32(b, ondisk.SuperBlocksCountAt, ondisk.LE32(b, ondisk.SuperBlocksCountAt)-8192)
			put32(b, ondisk.SuperInodesCountAt, ondisk.LE32(b, ondisk.SuperInodesCountAt)-ondisk.LE32(b,
				ondisk.SuperInodesPerGroupAt))
			put32(b, ondisk.SuperFreeBlocksCountAt, 0)
			put32(b, ondisk.SuperFreeInodesCountAt, 0)
		}, true},
		{"no magic", func(b []byte) { b[ondisk.SuperMagicAt]++ }, false},
		{"another file system's", func(b []byte) { b[ondisk.SuperUUIDAt]++ }, false},
		{"other groups", func(b []byte) { b[ondisk.SuperBlocksPerGroupAt+1]-- }, false},
		{"a feature that is not known", func(b []byte) { b[ondisk.SuperFeatureIncompatAt+2] = 1 }, false},
	} {
		altered := w
		altered.Data = bytes.Clone(w.Data)
		tc.alter(altered.Data)
		if obs := fs.Observe(altered); !tc.holds {
			only(t, obs, "ext3/home")
		} else if len(obs.Violations) > 0 || obs.Unknown != nil {
			t.Errorf("%s: %v %v", tc.name, obs.Violations, obs.Unknown)
		}
	}
	only(t, fs.Observe(interp.Write{Off: w.Off, Len: w.Len, Discard: true}), "ext3/home")
}
