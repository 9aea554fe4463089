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
type extSource struct{ ext3.Snapshot }

func openExt(disk interp.Disk) (*extSource, error) {
	m, err := ext3.Mount(disk, disk.Size())
	if err != nil {
		return nil, err
	}
	return &extSource{m.Snapshot}, nil
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
		return f, s.blocks(i, func(uint32, []byte) {}, indirect)
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
	h, left := xxhash.New(), f.Size
	err = s.blocks(i, func(n uint32, b []byte) {
		if n != 0 {
			f.parts = append(f.parts, s.part(n))
		}
		have := min(left, uint64(len(b)))
		_, _ = h.Write(b[:have])
		left -= have
	}, indirect)
	f.Content = h.Sum64()
	return f, err
}

// blocks calls data with each block of a file, in order, 0 for a hole, and indirect with each
// block of pointers. It reads no more blocks than the file's size needs.
func (s *extSource) blocks(i ondisk.Inode, data func(uint32, []byte), indirect func(uint32)) error {
	size := uint64(s.Geo.BlockSize)
	if i.Size() > maxRead {
		return fmt.Errorf("a file of %d bytes", i.Size())
	}
	left := (i.Size() + size - 1) / size
	hole := make([]byte, size)
	var walk func(block uint32, level int) error
	walk = func(block uint32, level int) error {
		if left == 0 {
			return nil
		}
		b := hole
		if block != 0 {
			if !s.Geo.InRange(block) {
				return fmt.Errorf("block %d lies outside the file system", block)
			}
			var err error
			if b, err = s.Block(block); err != nil {
				return err
			}
		}
		if level == 0 {
			data(block, b)
			left--
			return nil
		}
		if block != 0 {
			indirect(block)
		}
		for n := 0; n < len(b) && left > 0; n += 4 {
			if err := walk(binary.LittleEndian.Uint32(b[n:]), level-1); err != nil {
				return err
			}
		}
		return nil
	}
	for n := range ondisk.NPointers {
		if err := walk(i.Pointer(n), max(0, n-11)); err != nil {
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
	err = s.blocks(i, func(n uint32, b []byte) {
		if n == 0 {
			return
		}
		ondisk.Entries(b, s.Geo.FileType, func(e ondisk.Entry) {
			if name := string(e.Name); e.Ino != 0 && name != "." && name != ".." {
				list = append(list, entry{name, uint64(e.Ino), s.part(n)})
			}
		})
	}, func(uint32) {})
	return list, err
}
