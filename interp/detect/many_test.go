package detect_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"fsward/interp/detect"
)

const (
	manyStart = 8 << 20 // of the first partition of a manyDisk, bytes
	manyEach  = 3 << 20 // bytes of a partition
)

// manyDisk is a disk with a GPT, each of whose partitions has the same content.
type manyDisk struct {
	table, content []byte
	partitions     int
}

func (d *manyDisk) Size() uint64 { return manyStart + manyEach*uint64(d.partitions) + 1<<20 }

func (d *manyDisk) ReadAt(p []byte, off int64) (int, error) {
	clear(p)
	if off < manyStart {
		copy(p, d.table[off:])
	}
	end := min(off+int64(len(p)), int64(manyStart+manyEach*d.partitions))
	for at := max(off, manyStart); at < end; {
		at += int64(copy(p[at-off:end-off], d.content[(at-manyStart)%manyEach:]))
	}
	return len(p), nil
}

// manyExt3 returns a disk with n partitions, each with an ext3.
func manyExt3(t *testing.T, n int) *manyDisk {
	t.Helper()
	path := filepath.Join(t.TempDir(), "image")
	if err := os.WriteFile(path, make([]byte, manyEach), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("/sbin/mke2fs", "-q", "-t", "ext3", "-b", "1024", "-J", "size=1",
		path).CombinedOutput()
	if err != nil {
		t.Fatalf("mke2fs: %v\n%s", err, out)
	}
	d := &manyDisk{table: make([]byte, manyStart), partitions: n}
	if d.content, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	copy(d.table[446:], "\x00\x00\x02\x00\xee\xff\xff\xff\x01\x00\x00\x00\xff\xff\x00\x00")
	d.table[510], d.table[511] = 0x55, 0xaa
	head, entries := d.table[512:604], d.table[1024:1024+128*n]
	copy(head, "EFI PART\x00\x00\x01\x00\x5c\x00\x00\x00")
	last := d.Size()/512 - 1
	for o, v := range map[int]uint64{24: 1, 32: last, 40: manyStart / 512, 48: last, 72: 2,
		80: uint64(n) | 128<<32} {
		binary.LittleEndian.PutUint64(head[o:], v)
	}
	for i := range n {
		at := manyStart/512 + uint64(i)*(manyEach/512)
		entries[128*i] = 1
		binary.LittleEndian.PutUint64(entries[128*i+32:], at)
		binary.LittleEndian.PutUint64(entries[128*i+40:], at+manyEach/512-1)
	}
	binary.LittleEndian.PutUint32(head[88:], crc32.ChecksumIEEE(entries))
	binary.LittleEndian.PutUint32(head[16:], crc32.ChecksumIEEE(bytes.Clone(head)))
	return d
}

// TestManyFileSystems checks that what a guard asks for at each commit and each flush of a guest
// does not grow with the square of the file systems on its volumes.
func TestManyFileSystems(t *testing.T) {
	const n, commits = 3000, 500
	v, err := detect.FollowVolumes(manyExt3(t, n), detect.VolumeOptions{FS: detect.Auto})
	if err != nil {
		t.Fatal(err)
	}
	for range commits {
		guarded := 0
		for _, i := range v.Numbers() {
			if v.State(i).FS == "ext3" {
				guarded++
			}
		}
		if guarded != n {
			t.Fatalf("%d volumes are guarded, want %d", guarded, n)
		}
		v.Flushed(0, 1)
	}
}
