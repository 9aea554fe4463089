package ext3

import (
	"fsward/change"
	"fsward/interp/ext3/ondisk"
	"slices"
)

// find looks a name up in a directory. Rules query names roughly in their order on the disk. So
// find searches outward from the place of the last name, in both directions. It does not rely on
// the index of the directory.
func (v *view) find(dir uint32, name string) (found ondisk.Entry, err error) {
	s, err := v.side(dir)
	if err != nil || s.mapped(dir) == nil {
		return found, err
	}
	dots := name == "." || name == ".."
	blocks, from := s.inode.DirBlocks(v.Geo.BlockSize), uint64(0)
	if dir == v.near.dir && !dots {
		from = min(v.near.block, blocks)
	}
	look := func(n uint64) (bool, error) {
		err := v.eachIn(s.inode, n, func(e ondisk.Entry) {
			if found.Ino == 0 && string(e.Name) == name {
				found = e
			}
		})
		if found.Ino != 0 && !dots {
			v.near.dir, v.near.block = dir, n
		}
		return err != nil || found.Ino != 0, err
	}
	for away := uint64(0); away <= from || from+away < blocks; away++ {
		if from+away < blocks {
			if end, err := look(from + away); end {
				return found, err
			}
		}
		if away > 0 && away <= from {
			if end, err := look(from - away); end {
				return found, err
			}
		}
	}
	return found, nil
}

// each calls visit for the entries of a directory.
func (v *view) each(dir uint32, visit func(ondisk.Entry)) error {
	s, err := v.side(dir)
	if err != nil || s.mapped(dir) == nil {
		return err
	}
	for n := range s.inode.DirBlocks(v.Geo.BlockSize) {
		if err := v.eachIn(s.inode, n, visit); err != nil {
			return err
		}
	}
	return nil
}

// eachIn calls visit for the entries in a block of a directory.
func (v *view) eachIn(dir ondisk.Inode, n uint64, visit func(ondisk.Entry)) error {
	block, err := v.mapBlock(dir, n)
	if err != nil || block == 0 || !v.Geo.InRange(block) {
		return err
	}
	b, err := v.State.Block(block)
	if err == nil {
		err = v.State.meter.Spend(namesSteps)
	}
	if err == nil {
		ondisk.Entries(b, v.Geo.FileType, visit)
	}
	return err
}

// entryHandles returns the handles of the names in a directory in ascending order.
func (v *view) entryHandles(dir uint64) (handles []uint64, err error) {
	err = v.each(uint32(dir), func(e ondisk.Entry) {
		handles = append(handles,
			v.names.Handle(e.Name))
	})
	slices.Sort(handles)
	return slices.Compact(handles), err // a damaged directory can hold a name twice
}

// scanEntries yields the entries of one directory.
func (v *view) scanEntries(lo, hi change.Object, by int, yield func(change.Object,
	error) bool) error {
	if !v.fits(lo) || lo.ID != hi.ID {
		return nil
	}
	handles, err := v.entryHandles(lo.ID)
	if err != nil {
		return err
	}
	if by < 0 {
		slices.Reverse(handles)
	}
	for _, h := range handles {
		if lo.Sub <= h && h <= hi.Sub && !yield(change.Object{Kind: ondisk.KindDirent, ID: lo.ID, Sub: h},
			nil) {
			return nil
		}
	}
	return nil
}

// stepEntry orders the entries of one directory by the handles of their names.
func (v *view) stepEntry(o change.Object, by int) (change.Object, bool, error) {
	if !v.fits(o) {
		return change.Object{}, false, nil
	}
	handles, err := v.entryHandles(o.ID)
	if err != nil {
		return change.Object{}, false, err
	}
	i, found := slices.BinarySearch(handles, o.Sub)
	switch {
	case by < 0:
		i--
	case found:
		i++
	}
	if i < 0 || i >= len(handles) {
		return change.Object{}, false, nil
	}
	return change.Object{Kind: ondisk.KindDirent, ID: o.ID, Sub: handles[i]}, true, nil
}
