package ext3

import (
	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

// files reads the files of an ext3 as a mount would: with the transactions that its journal
// commits, those of data=journal included.
type files struct{ mounted *Mounted }

// OpenFiles opens the files of the ext3 on a disk. The errors are those of Mount.
func OpenFiles(d interp.Disk) (interp.Files, error) {
	dev, err := join(d)
	if err != nil {
		return nil, err
	}
	m, err := Mount(dev, dev.Size())
	if err != nil {
		return nil, err
	}
	return &files{m}, nil
}

// Contents visits the contents of a file: see interp.Files. It reads each block once.
func (f *files) Contents(_, inode, size uint64, visit func(interp.Piece) error) error {
	m := f.mounted
	if inode > uint64(m.Geo.Inodes) {
		return &interp.ContentsError{Reason: "there is no such inode"}
	}
	i, err := m.Inode(uint32(inode))
	if err != nil {
		return err
	}
	block := uint64(m.Geo.BlockSize)
	buffer := make([]byte, block)
	end := uint64(0) // of the pieces so far
	visited := &Visits{}
	err = m.Walk(i, visited, func(level int, start uint64, at uint32) (bool, error) {
		if level > 0 {
			return visited.Enter(at), nil
		}
		off := start * block
		if off >= size {
			return false, nil
		}
		if off < end {
			return false, ondisk.Corrupt(m.Geo.Addr(at), "block %d of inode %d comes twice", start, inode)
		}
		if err := interp.Gap(end, off, visit); err != nil {
			return false, err
		}
		data, err := m.State.read(at, buffer)
		if err != nil {
			return false, err
		}
		_, copied := m.Place(at)
		end = min(off+block, size)
		return false, visit(interp.Piece{Off: off, Len: end - off, Data: data[:end-off],
			Placed: !copied, Addr: m.Geo.Addr(at)})
	})
	if err != nil {
		return err
	}
	return interp.Gap(end, size, visit)
}
