package volume

import (
	"io"

	"fsward/interp"
)

// content is a volume as a disk.
type content struct {
	all interp.Disk
	m   *Map
	v   int
}

// Content returns a volume of d as a disk whose addresses begin at 0. It is valid as long as m is
// the map of d. Bytes that the map does not have read as an error.
func (m *Map) Content(d interp.Disk, v int) interp.Disk { return &content{d, m, v} }

func (c *content) Size() uint64 { return c.m.Volumes[c.v].Size }

func (c *content) ReadAt(p []byte, off int64) (done int, err error) {
	if off < 0 || uint64(off) >= c.Size() {
		return 0, io.EOF
	}
	for done < len(p) {
		addr, n := c.m.Address(c.v, uint64(off)+uint64(done))
		if n == 0 {
			if uint64(off)+uint64(done) >= c.Size() {
				return done, io.EOF
			}
			return done, io.ErrUnexpectedEOF
		}
		want := min(n, uint64(len(p)-done))
		got, err := c.all.ReadAt(p[done:done+int(want)], int64(addr))
		if done += got; uint64(got) < want {
			if err == nil || err == io.EOF { //nolint:errorlint // io.EOF is returned as it is
				err = io.ErrUnexpectedEOF
			}
			return done, err
		}
	}
	return done, nil
}

// A Use is a file system's description of the volume that it lies on.
type Use struct {
	FS    string // "ext3", "btrfs"; "" if there is none
	Size  uint64 // bytes of the volume that it claims
	InUse bool   // it is mounted, or was not unmounted; never known of Btrfs
}

// ReadUse returns the Use of a volume by the superblock of an ext2 to ext4 or a Btrfs. The zero Use
// is that of a volume with neither, or that cannot be read.
func ReadUse(d interp.Disk) Use {
	dev := &device{all: d, size: d.Size()}
	if r, ok, err := dev.read(extSuper, 1024); ok && err == nil && r.U16(extMagicAt) == extMagic {
		const valid, recover, wide, journalDevice = 1, 0x4, 0x80, 0x8
		incompat, blocks := r.U32(extIncompatAt), uint64(r.U32(extBlocksAt))
		if incompat&wide != 0 {
			blocks |= uint64(r.U32(extBlocksHighAt)) << 32
		}
		shift := r.U32(extBlockShiftAt)
		if shift <= 6 && incompat&journalDevice == 0 && blocks <= maxSize>>16 {
			return Use{ext(r.U32(extCompatAt), incompat), blocks << (10 + shift),
				incompat&recover != 0 || r.U16(extStateAt)&valid == 0}
		}
	}
	r, ok, err := dev.read(btrfsSuper, 1024)
	if ok && err == nil && hasText(r, btrfsMagicAt, btrfsMagic) {
		return Use{FS: "btrfs", Size: r.U64(btrfsDevSizeAt)}
	}
	return Use{}
}
