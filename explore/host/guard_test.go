package host

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/zap/zaptest"
	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/ramdisk"
	"fsward/hostd/guardtest"
)

// inMemory is the contents of a disk.
type inMemory struct{ *bytes.Reader }

func (m inMemory) Size() uint64 { return uint64(m.Reader.Size()) }

// TestExploreGuard checks that the guard of an explored disk lets the kernel's writes pass, refuses
// others, and reports the first refusal.
func TestExploreGuard(t *testing.T) {
	base := filepath.Join(t.TempDir(), "base")
	if err := errors.Join(os.WriteFile(base, nil, 0o600), os.Truncate(base, 16<<20)); err != nil {
		t.Fatal(err)
	}
	guardtest.Run(t, "mkfs.ext3", "-q", "-F", base)
	image, err := os.ReadFile(base)
	if err != nil {
		t.Fatal(err)
	}
	guard := &Guard{Log: zaptest.NewLogger(t)}
	const off, size, inodeCount = 1024, 1024, 0
	for _, c := range []struct {
		inodes uint32 // number added to the superblock's count
		errno  unix.Errno
		kind   string
	}{{0, 0, ""}, {7, unix.EIO, "refused: ext3/"}} {
		g, err := guard.Begin([]explore.GuardedDisk{{Name: "/dev/fswrd0",
			Base: inMemory{bytes.NewReader(image)}}})
		if err != nil {
			t.Fatal(err)
		}
		block := append([]byte(nil), image[off:off+size]...)
		binary.LittleEndian.PutUint32(block[inodeCount:],
			binary.LittleEndian.Uint32(block[inodeCount:])+c.inodes)
		bio := &ramdisk.Record{Type: ramdisk.Submit, Op: ramdisk.Write,
			Flags: ramdisk.Preflush | ramdisk.FUA, Sector: off / ramdisk.SectorSize, Len: size, Data: block}
		for range 2 { // a refused write leaves the copy unchanged, and is refused again
			if errno := g.Allow(0, bio); errno != c.errno {
				t.Errorf("%d inodes more: %v", c.inodes, errno)
			}
		}
		for _, other := range []*ramdisk.Record{{Op: ramdisk.Flush, Flags: ramdisk.Preflush},
			{Op: ramdisk.Discard, Sector: 30000, Len: 4096},
			{Op: ramdisk.Zeroes, Sector: 30000, Len: 4096}} {
			if errno := g.Allow(0, other); errno != 0 {
				t.Errorf("%v: %v", other.Op, errno)
			}
		}
		if errno := g.Allow(0, &ramdisk.Record{Op: ramdisk.Write, Sector: 32768, Len: 512,
			Data: make([]byte, 512)}); errno != unix.EINVAL {
			t.Errorf("a write behind the end of the disk: %v", errno)
		}
		got := g.Refused()
		if (got != nil) != (c.kind != "") || got != nil && !strings.HasPrefix(got.Kind, c.kind) {
			t.Errorf("%d inodes more: %v", c.inodes, got)
		}
		t.Log(got)
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}
}
