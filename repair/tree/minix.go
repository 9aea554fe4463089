package tree

import (
	"fmt"

	"github.com/cespare/xxhash/v2"

	"fsward/repair/minix"
)

// minixSource reads Minix.
type minixSource struct{ fs *minix.FS }

func (s *minixSource) root() uint64 { return minix.Root }

func block(n uint64) Range { return Range{n * minix.BlockSize, (n + 1) * minix.BlockSize} }

func (s *minixSource) file(number uint64) (*File, error) {
	i, err := s.fs.Inode(number)
	if err != nil {
		return nil, err
	}
	f := &File{Mode: i.Mode, UID: uint64(i.UID), GID: uint64(i.GID),
		parts: []Range{{i.Off, i.Off + s.fs.InodeBytes()}}}
	data := func(uint64) {}
	h, left := xxhash.New(), i.Size
	switch i.Type() {
	case minix.BlockDev, minix.CharDev:
		f.Device = i.Pointer(0)
		return f, nil
	case minix.Regular, minix.Symlink:
		if i.Size > maxRead {
			return nil, fmt.Errorf("a file of %d bytes", i.Size)
		}
		f.Size = i.Size
		data = func(n uint64) {
			b := make([]byte, minix.BlockSize)
			if n != 0 {
				f.parts = append(f.parts, block(n))
				var readErr error
				if b, readErr = s.fs.Block(n); readErr != nil {
					err = readErr
					return
				}
			}
			_, _ = h.Write(b[:min(left, minix.BlockSize)])
			left -= min(left, minix.BlockSize)
		}
	case minix.Directory:
	default:
		return f, nil
	}
	walked := s.fs.Blocks(i, data, func(n uint64) { f.parts = append(f.parts, block(n)) })
	if err == nil {
		err = walked
	}
	f.Content = h.Sum64()
	return f, err
}

func (s *minixSource) entries(number uint64) (list []entry, err error) {
	i, err := s.fs.Inode(number)
	if err != nil {
		return nil, err
	}
	all, err := s.fs.Entries(i)
	for _, e := range all {
		list = append(list, entry{e.Name, e.Inode, block(e.Block)})
	}
	return list, err
}
