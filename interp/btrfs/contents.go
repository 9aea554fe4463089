package btrfs

import (
	"bytes"
	"fmt"

	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// files reads the files of a Btrfs as a mount without the replay of its log would.
type files struct{ state *state }

// OpenFiles opens the files of the Btrfs on a disk. The errors are those of New.
func OpenFiles(d interp.Disk) (interp.Files, error) {
	devs, err := open(d, first(d))
	if err != nil {
		return nil, err
	}
	c := newComparer(d, interp.Limits{})
	s, err := c.attach(devs)
	if err != nil {
		return nil, err
	}
	return &files{s}, nil
}

// Contents visits the contents of a file: see interp.Files. Data that has no copy with its checksum
// is damaged, as are compressed extents that cannot be decompressed.
func (f *files) Contents(tree, inode, size uint64, visit func(interp.Piece) error) error {
	root, ok, err := f.state.treeRoot(tree)
	if err != nil {
		return err
	}
	end := uint64(0) // of the pieces so far
	from := ondisk.Key{ObjectID: inode, Type: ondisk.ExtentDataKey}
	var pos *position
	if ok {
		pos, ok, err = f.state.seek(tree, root.pointer, from)
	}
	for ; ok && err == nil; ok, err = pos.move(1) {
		k := pos.key()
		if k.ObjectID != inode || k.Type != ondisk.ExtentDataKey || k.Offset >= size {
			break
		}
		if k.Offset < end {
			return violated(pointerRule, "inode %d has two extents at %d", inode, k.Offset)
		}
		if err := interp.Gap(end, k.Offset, visit); err != nil {
			return err
		}
		item := pos.item()
		v, whole := ondisk.ViewFileExtent(item.data())
		if !whole {
			return violated(pointerRule, "the extent of inode %d at %d is cut short", inode, k.Offset)
		}
		if end, err = f.extent(v, k.Offset, size, visit); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	return interp.Gap(end, size, visit)
}

// extent visits an extent at an offset of a file with a size, and returns where it ends.
func (f *files) extent(v ondisk.FileExtent, off, size uint64, visit func(interp.Piece) error) (
	end uint64, err error) {
	if v.Encryption() != 0 || v.OtherEncoding() != 0 {
		return 0, &interp.ContentsError{Reason: "it has an encrypted extent"}
	}
	packed := v.Compression() != 0 && v.Type() != ondisk.ExtentPrealloc
	if v.Type() == ondisk.ExtentInline {
		if packed {
			return f.compressed(v, off, size, visit)
		}
		data := v.Bytes()[ondisk.InlineStart:]
		data = data[:min(uint64(len(data)), size-off)]
		return off + uint64(len(data)),
			visit(interp.Piece{Off: off, Len: uint64(len(data)), Data: data})
	}
	if v.Len() < ondisk.FileExtentSize || v.NumBytes() > ^uint64(0)-off {
		return 0, violated(pointerRule, "the extent of a file at %d is cut short", off)
	}
	if packed && v.DiskBytenr() != 0 {
		return f.compressed(v, off, size, visit)
	}
	end = min(off+v.NumBytes(), size)
	if v.DiskBytenr() == 0 || v.Type() == ondisk.ExtentPrealloc {
		return end, interp.Gap(off, end, visit)
	}
	return end, f.sectors(v.DiskBytenr()+v.Offset(), off, end, visit)
}

// sectors visits the sectors of data at a logical address, which are at off of a file, up to end.
func (f *files) sectors(logical, off, end uint64, visit func(interp.Piece) error) error {
	sector := uint64(f.state.rules.sectorSize)
	if logical%sector != 0 {
		return violated(pointerRule, "an extent of a file begins at %d", logical)
	}
	sums := make(map[uint64][]byte)
	err := eachSum(f.state, logical, logical+(end-off), func(at uint64, sum []byte) error {
		sums[at] = bytes.Clone(sum)
		return nil
	})
	if err != nil {
		return err
	}
	for ; off < end; off, logical = off+sector, logical+sector {
		data, addr, err := f.sector(logical, sums[logical])
		if err != nil {
			return err
		}
		n := min(sector, end-off)
		piece := interp.Piece{Off: off, Len: n, Data: data[:n], Placed: true, Addr: addr}
		if err := visit(piece); err != nil {
			return err
		}
	}
	return nil
}

// sector reads a sector of data, and returns where it is: the first copy with the checksum sum.
// Without a checksum, all copies must be equal.
func (f *files) sector(logical uint64, sum []byte) (data []byte, addr uint64, err error) {
	rules := &f.state.rules
	addrs, count, err := f.state.chunks.copies(logical, uint64(rules.sectorSize), ondisk.GroupData)
	if err != nil {
		return nil, 0, err
	}
	for i, at := range addrs[:count] {
		b := make([]byte, rules.sectorSize)
		if err := readFull(f.state.disk, b, at); err != nil {
			return nil, 0, err
		}
		if sum != nil {
			if have := rules.csum.Sum(b); bytes.Equal(have[:len(sum)], sum) {
				return b, at, nil
			}
			continue
		}
		if i > 0 && !bytes.Equal(b, data) {
			return nil, 0, &interp.ContentsError{Reason: "its copies differ, and it has no checksums"}
		}
		data, addr = b, at
	}
	if sum != nil {
		return nil, 0, &interp.ContentsError{Damaged: true, Reason: fmt.Sprintf(
			"the commit has the checksum %x for the data at logical address %d, and no copy has it",
			sum, logical)}
	}
	return data, addr, nil
}
