package ext3

import (
	"bytes"
	"testing"

	"fsward/interp/ext3/ondisk"
)

// TestReplayedIgnores checks that a replayed disk is compared without times and generations, and
// with everything else.
func TestReplayedIgnores(t *testing.T) {
	image := Mkfs(t, "16M", "-b", "1024", "-I", "256")
	base := ReadFile(t, image)
	const ino = 11 // lost+found
	for _, row := range []struct {
		name string
		at   uint32 // in the inode; in the superblock, if it is above
		same bool
	}{
		{"mode", ondisk.InodeModeAt, false}, {"size", ondisk.InodeSizeAt, false},
		{"links", ondisk.InodeLinksCountAt, false}, {"block", ondisk.InodeBlock0At, false},
		{"atime", ondisk.InodeAtimeAt, true}, {"ctime", ondisk.InodeCtimeAt, true},
		{"mtime", ondisk.InodeMtimeAt, true}, {"generation", ondisk.InodeGenerationAt, true},
		{"ctime_extra", 132, true}, {"crtime_extra", 148, true}, {"extra_isize", 128, false},
		{"an attribute in the inode", 200, false},
		{"time of the last mount", 1000 + ondisk.SuperMtimeAt, true},
		{"time of the last write", 1000 + ondisk.SuperWtimeAt, true},
		{"free blocks", 1000 + 12, false}, {"number of mounts", 1000 + 52, false},
	} {
		other := bytes.Clone(base)
		r, err := Replay(NewDisk(bytes.NewReader(base), uint64(len(base))))
		if err != nil {
			t.Fatal(err)
		}
		at := r.(*Replayed).m.inodeAddr(ino) + uint64(row.at)
		if row.at >= 1000 {
			at = ondisk.SuperOff + uint64(row.at) - 1000
		}
		other[at] ^= 0x41
		page := at &^ 4095
		a, b := bytes.Clone(base[page:page+4096]), other[page:page+4096]
		r.Ignore(a, int64(page))
		r.Ignore(b, int64(page))
		if bytes.Equal(a, b) != row.same {
			t.Errorf("%s: compares equal: %t", row.name, !row.same)
		}
	}
}

// TestOrphanLinkIsCompared: the time of deletion of an inode on the list of orphans is the number
// of the next one.
func TestOrphanLinkIsCompared(t *testing.T) {
	inode := make([]byte, 128)
	inode[ondisk.InodeDtimeAt] = 12
	if ondisk.ClearTimes(inode, 2048); inode[ondisk.InodeDtimeAt] != 12 {
		t.Error("a link of the list of orphans is ignored")
	}
	inode[ondisk.InodeDtimeAt+3] = 0x65 // a time
	if ondisk.ClearTimes(inode, 2048); ondisk.Inode(inode).Dtime() != 0 {
		t.Error("a time of deletion is compared")
	}
}
