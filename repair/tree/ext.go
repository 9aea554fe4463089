package tree

import (
	"encoding/binary"
	"fmt"

	"github.com/cespare/xxhash/v2"

	"fsward/interp"
	"fsward/interp/ext3"
	"fsward/interp/ext3/ondisk"
)

// extSource reads ext2 and ext3.
type extSource struct {
	ext3.Snapshot
	read budget
}

func openExt(disk interp.Disk) (*extSource, error) {
	m, err := ext3.Mount(disk, disk.Size())
	if err != nil {
		return nil, err
	}
	return &extSource{m.Snapshot, budgetOf(disk)}, nil
}

func (s *extSource) root() uint64 { return ondisk.RootIno }

func (s *extSource) part(n uint32) Range {
	return Range{s.Geo.Addr(n), s.Geo.Addr(n) + uint64(s.Geo.BlockSize)}
}

// inodePart returns where an inode lies.
func (s *extSource) inodePart(ino uint32) Range {
	g, n := (ino-1)/s.Geo.InodesPerGroup, (ino-1)%s.Geo.InodesPerGroup
	off := s.Geo.Addr(s.Places[g].InodeTable) + uint64(n)*uint64(s.Geo.InodeSize)
	return Range{off, off + uint64(s.Geo.InodeSize)}
}

func (s *extSource) file(number uint64) (*File, error) {
	ino := uint32(number)
	i, err := s.Inode(ino)
	if err != nil {
		return nil, err
	}
	f := &File{Mode: uint32(i.Mode()), UID: i.UID(), GID: i.GID(), parts: []Range{s.inodePart(ino)}}
	if i.FileACL() != 0 {
		f.parts = append(f.parts, s.part(i.FileACL()))
	}
	indirect := func(n uint32) { f.parts = append(f.parts, s.part(n)) }
	switch i.Type() {
	case ondisk.ModeDir:
		return f, s.blocks(i, func(uint64, uint32, []byte) {}, indirect)
	case ondisk.ModeRegular:
	case ondisk.ModeLink:
		if f.Size = i.Size(); i.Fast() {
			f.Content = xxhash.Sum64(i[ondisk.InodeBlock0At : ondisk.InodeBlock0At+f.Size])
			return f, nil
		}
	default:
		f.Device = uint64(i.Pointer(0)) | uint64(i.Pointer(1))<<32
		return f, nil
	}
	f.Size = i.Size()
	c := newContents(f.Size)
	err = s.blocks(i, func(at uint64, n uint32, b []byte) {
		f.parts = append(f.parts, s.part(n))
		c.add(at, b)
	}, indirect)
	f.Content = c.hash.Sum64()
	return f, err
}

// blocks calls data with each block of a file that is no hole: its place in the file in blocks,
// its number, and its bytes. It calls indirect with each block of pointers. It reads no more blocks
// than the file's size needs.
func (s *extSource) blocks(i ondisk.Inode, data func(at uint64, n uint32, b []byte),
	indirect func(uint32)) error {
	size := uint64(s.Geo.BlockSize)
	most, at := i.Size()/size, uint64(0)
	if i.Size()%size != 0 {
		most++
	}
	var walk func(block uint32, covers uint64) error
	walk = func(block uint32, covers uint64) error {
		switch {
		case at >= most:
			return nil
		case block == 0:
			at += covers
			return nil
		case !s.Geo.InRange(block):
			return fmt.Errorf("block %d lies outside the file system", block)
		}
		if err := s.read.spend(size); err != nil {
			return err
		}
		b, err := s.Block(block)
		if err != nil {
			return err
		}
		if covers == 1 {
			data(at, block, b)
			at++
			return nil
		}
		indirect(block)
		for n := 0; n < len(b) && at < most; n += 4 {
			if err := walk(binary.LittleEndian.Uint32(b[n:]), covers/(size/4)); err != nil {
				return err
			}
		}
		return nil
	}
	covers := uint64(1)
	for n := range ondisk.NPointers {
		if n >= ondisk.NPointers-3 {
			covers *= size / 4
		}
		if err := walk(i.Pointer(n), covers); err != nil {
			return err
		}
	}
	return nil
}

func (s *extSource) entries(number uint64) (list []entry, err error) {
	i, err := s.Inode(uint32(number))
	if err != nil {
		return nil, err
	}
	err = s.blocks(i, func(_ uint64, n uint32, b []byte) {
		ondisk.Entries(b, s.Geo.FileType, func(e ondisk.Entry) {
			if name := string(e.Name); e.Ino != 0 && name != "." && name != ".." {
				list = append(list, entry{name, uint64(e.Ino), s.part(n)})
			}
		})
	}, func(uint32) {})
	return list, err
}
