package ext3

import (
	"bytes"
	"os"
	"testing"

	"fsward/interp"
)

// Mounting a file system whose count of blocks that hold no data is wrong, as resize2fs leaves it, Linux brings the
// copies of its superblock up to date, the later ones past the journal. That is no alarm; another change of them is.
func TestSuperCopies(t *testing.T) {
	image := mkfs(t, "512M", "-b", "1024")
	base := bytes.Clone(readFile(t, image))
	for _, group := range []int{0, 1, 3, 5, 7, 9, 25, 27, 49} {
		base[(group*8192+1)*1024+584]++ // s_overhead_clusters
	}
	if err := os.WriteFile(image, base, 0o600); err != nil {
		t.Fatal(err)
	}
	f := follow(t, image, 1, nil, nil, "echo x > file; sync -f .")
	peer(t, "e2fsck", "-fn", image)

	d := newDisk(bytes.NewReader(base), uint64(len(base)))
	fs, err := New(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range f.writes {
		if block := uint32(w.Off / 1024); fs.m != nil && fs.geo.inRange(block) && fs.geo.isSuperCopy(block) {
			if committed, err := fs.m.state.block(block); err != nil {
				t.Fatal(err)
			} else if !bytes.Equal(committed, w.Data[:1024]) {
				t.Logf("the copy of group %d", fs.geo.groupOf(block))
				alterSuperCopy(t, fs, w)
				return
			}
		}
		fs.Observe(w)
		d.apply(w)
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
			put32(b, sBlocksCount, le32(b, sBlocksCount)-8192)
			put32(b, sInodesCount, le32(b, sInodesCount)-le32(b, sInodesPerGroup))
			put32(b, sFreeBlocks, 0)
			put32(b, sFreeInodes, 0)
		}, true},
		{"no magic", func(b []byte) { b[sMagic]++ }, false},
		{"another file system's", func(b []byte) { b[sUUID]++ }, false},
		{"other groups", func(b []byte) { b[sBlocksPerGroup+1]-- }, false},
		{"a feature that is not known", func(b []byte) { b[sFeatureIncompat+2] = 1 }, false},
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
