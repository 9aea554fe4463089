package ext3

import (
	"bytes"

	"fsward/change"
)

// desc returns the descriptor of a group in a state.
func (l *layout) desc(s *state, g uint32) ([]byte, error) {
	perBlock := l.geo.blockSize / descLen
	b, err := s.block(l.geo.superBlock() + 1 + g/perBlock)
	if err != nil {
		return nil, err
	}
	off := g % perBlock * descLen
	return b[off : off+descLen], nil
}

// group compares the bitmaps and the inode table of a group, and notes whether it has anything to tell.
func (d *delta) group(g uint32) error {
	p := d.places[g]
	perBlock := d.geo.blockSize / descLen
	if descBlock := d.geo.superBlock() + 1 + g/perBlock; d.rewrote(descBlock) {
		if err := d.descriptor(g, p, descBlock); err != nil {
			return err
		}
	}
	if d.image {
		d.fixedOwners(g, p)
	}
	start := d.geo.groupStart(g)
	err := d.bitmap(p.blockBitmap, d.geo.groupBlocks(g), func(n uint32, set bool) {
		d.groups[g] = true
		d.bitRecords(change.Object{Kind: kindBlock, ID: uint64(start + n)}, fieldGroup, g, set)
	})
	if err != nil {
		return err
	}
	err = d.bitmap(p.inodeBitmap, d.geo.inodesPerGroup, func(n uint32, set bool) {
		ino := g*d.geo.inodesPerGroup + n + 1
		d.groups[g], d.inodes[ino] = true, true
		d.bitRecords(change.Object{Kind: kindInodeBit, ID: uint64(ino)}, fieldInodeGroup, g, set)
	})
	if err != nil {
		return err
	}
	return d.inodeTable(g, p.inodeTable)
}

func (d *delta) descriptor(g uint32, p places, block uint32) error {
	after, err := d.desc(d.new, g)
	if err != nil {
		return err
	}
	addr := d.geo.addr(block) + uint64(g%(d.geo.blockSize/descLen))*descLen
	if now := (places{le32(after, bgBlockBitmap), le32(after, bgInodeBitmap), le32(after, bgInodeTable)}); now != p {
		d.fault(on(checkGroup.at(addr, "the bitmaps and the inode table were at blocks %v, the descriptor now says %v", p, now), kindGroup, uint64(g)))
		return nil
	}
	free, inodes, dirs := uint32(le16(after, bgFreeBlocks)), uint32(le16(after, bgFreeInodes)), uint32(le16(after, bgUsedDirs))
	if free > d.geo.groupBlocks(g) || inodes > d.geo.inodesPerGroup || dirs > d.geo.inodesPerGroup {
		d.fault(on(checkGroup.at(addr, "%d of %d blocks and %d of %d inodes free, %d directories", free, d.geo.groupBlocks(g), inodes, d.geo.inodesPerGroup, dirs), kindGroup, uint64(g)))
		return nil
	}
	if d.image {
		d.groups[g] = true
		return nil
	}
	before, err := d.desc(d.old, g)
	if err != nil {
		return err
	}
	if !bytes.Equal(before, after) {
		d.groups[g] = true
	}
	return nil
}

// bitmap calls visit for each bit that changed, below count.
func (d *delta) bitmap(block, count uint32, visit func(n uint32, set bool)) error {
	if !d.rewrote(block) {
		return nil
	}
	after, err := d.new.block(block)
	if err != nil {
		return err
	}
	before := make([]byte, len(after))
	if !d.image {
		if before, err = d.old.block(block); err != nil {
			return err
		}
	}
	for i := range (count + 7) / 8 {
		if before[i] == after[i] {
			continue
		}
		for n := 8 * i; n < min(8*i+8, count); n++ {
			if set := bit(after, n); set != bit(before, n) {
				visit(n, set)
			}
		}
	}
	return nil
}

func (d *delta) bitRecords(o change.Object, f change.Field, g uint32, set bool) {
	r := change.Record{Object: o, Field: f}
	if set {
		d.txn.Add(o)
		r.New = change.Num(uint64(g))
	} else {
		d.txn.Delete(o)
		r.Old = change.Num(uint64(g))
	}
	d.txn.Append(r)
}

// inodeTable notes the inodes that differ in the blocks of a group's table that were rewritten.
func (d *delta) inodeTable(g, table uint32) error {
	perBlock := d.geo.blockSize / d.geo.inodeSize
	for k := range d.geo.tableBlocks {
		if !d.rewrote(table + k) {
			continue
		}
		after, err := d.new.block(table + k)
		if err != nil {
			return err
		}
		before := make([]byte, len(after))
		if !d.image {
			if before, err = d.old.block(table + k); err != nil {
				return err
			}
		}
		for n := range perBlock {
			i := k*perBlock + n
			off := n * d.geo.inodeSize
			if i < d.geo.inodesPerGroup && !bytes.Equal(before[off:off+inodeLen], after[off:off+inodeLen]) {
				d.inodes[g*d.geo.inodesPerGroup+i+1] = true
			}
		}
	}
	return nil
}

func (d *delta) groupFields(g uint32) error {
	after, err := d.desc(d.new, g)
	if err != nil {
		return err
	}
	var old func(change.Field) change.Value
	if !d.image {
		before, err := d.desc(d.old, g)
		if err != nil {
			return err
		}
		old = d.groupValue(g, before)
	}
	now := d.groupValue(g, after)
	o := change.Object{Kind: kindGroup, ID: uint64(g)}
	r := change.Record{Object: o, Field: change.FieldObject, New: change.Present}
	if old != nil {
		r.Old = change.Present
	}
	d.txn.Append(r)
	for _, f := range schema.Kinds[kindGroup].Fields {
		r := change.Record{Object: o, Field: f, New: now(f)}
		if old != nil {
			r.Old = old(f)
		}
		if r.Old != r.New || f == fieldFreeBlocks || f == fieldFreeInodes || f == fieldUsedDirs {
			d.txn.Append(r)
		}
	}
	return nil
}

func (l *layout) groupValue(g uint32, desc []byte) func(change.Field) change.Value {
	get := columns(groupColumns, desc)
	return func(f change.Field) change.Value {
		switch f {
		case fieldBlocksCount:
			return change.Num(uint64(l.geo.groupBlocks(g)))
		case fieldInodesCount:
			return change.Num(uint64(l.geo.inodesPerGroup))
		}
		return get(f)
	}
}
