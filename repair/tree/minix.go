package tree

import (
	"cmp"

	"fsward/repair/minix"
)

// minixSource reads Minix.
type minixSource struct {
	fs   *minix.FS
	read budget
}

func (s *minixSource) root() uint64 { return minix.Root }

func block(n uint64) Range { return Range{n * minix.BlockSize, (n + 1) * minix.BlockSize} }

func (s *minixSource) file(number uint64) (*File, error) {
	i, err := s.fs.Inode(number)
	if err != nil {
		return nil, err
	}
	f := &File{Mode: i.Mode, UID: uint64(i.UID), GID: uint64(i.GID),
		parts: []Range{{i.Off, i.Off + s.fs.InodeBytes()}}}
	data := func(_, _ uint64) {}
	c := newContents(i.Size)
	switch i.Type() {
	case minix.BlockDev, minix.CharDev:
		f.Device = i.Pointer(0)
		return f, nil
	case minix.Regular, minix.Symlink:
		f.Size = i.Size
		data = func(at, n uint64) {
			f.parts = append(f.parts, block(n))
			b, readErr := s.fs.Block(n)
			if err = cmp.Or(err, readErr, s.read.spend(minix.BlockSize)); err == nil {
				c.add(at, b)
			}
		}
	case minix.Directory:
	default:
		return f, nil
	}
	walked := s.fs.Blocks(i, data, func(n uint64) { f.parts = append(f.parts, block(n)) })
	if err == nil {
		err = walked
	}
	f.Content = c.hash.Sum64()
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
