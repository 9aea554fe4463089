package ext3

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"fsward/change"
)

// desc returns the descriptor of a group in a state.
func (l *layout) desc(s *state, g uint32) ([]byte, error) {
	perBlock := l.geo.perDescBlock()
	b, err := s.block(l.geo.descBlock(g / perBlock))
	if err != nil {
		return nil, err
	}
	off := g % perBlock * descLen
	return b[off : off+descLen], nil
}

// group compares the bitmaps and the inode table of a group, and notes whether it has anything to tell.
func (d *delta) group(g uint32) error {
	p := d.places[g]
	if descBlock := d.geo.descBlock(g / d.geo.perDescBlock()); d.rewrote(descBlock) || d.fresh(g) {
		if err := d.descriptor(g, p, descBlock); err != nil {
			return err
		}
	}
	if err := d.fixedOwners(g, p); err != nil {
		return err
	}
	start := d.geo.groupStart(g)
	had, hadInodes := uint32(0), uint32(0)
	if !d.fresh(g) {
		had, hadInodes = d.was.geo.groupBlocks(g), d.geo.inodesPerGroup
	}
	err := d.bitmap(p.blockBitmap, had, d.geo.groupBlocks(g), func(n uint32, set bool) {
		d.groups.add(g)
		if d.image == nil {
			d.bitRecords(change.Object{Kind: kindBlock, ID: uint64(start + n)}, fieldGroup, g, set)
		}
	})
	if err != nil {
		return err
	}
	err = d.bitmap(p.inodeBitmap, hadInodes, d.geo.inodesPerGroup, func(n uint32, set bool) {
		ino := g*d.geo.inodesPerGroup + n + 1
		d.groups.add(g)
		d.inodes.add(ino)
		if d.image == nil {
			d.bitRecords(change.Object{Kind: kindInodeBit, ID: uint64(ino)}, fieldInodeGroup, g, set)
		}
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
	addr := d.geo.addr(block) + uint64(g%d.geo.perDescBlock())*descLen
	if now := (places{le32(after, bgBlockBitmap), le32(after, bgInodeBitmap), le32(after, bgInodeTable)}); now != p {
		d.fault(on(checkGroup.at(addr, "the bitmaps and the inode table were at blocks %v, the descriptor now says %v", p, now), kindGroup, uint64(g)))
		return nil
	}
	free, inodes, dirs := uint32(le16(after, bgFreeBlocks)), uint32(le16(after, bgFreeInodes)), uint32(le16(after, bgUsedDirs))
	if free > d.geo.groupBlocks(g) || inodes > d.geo.inodesPerGroup || dirs > d.geo.inodesPerGroup {
		d.fault(on(checkGroup.at(addr, "%d of %d blocks and %d of %d inodes free, %d directories", free, d.geo.groupBlocks(g), inodes, d.geo.inodesPerGroup, dirs), kindGroup, uint64(g)))
		return nil
	}
	if d.fresh(g) {
		d.groups.add(g)
		return nil
	}
	before, err := d.was.desc(d.old, g)
	if err != nil {
		return err
	}
	if !bytes.Equal(before, after) {
		d.groups.add(g)
	}
	return nil
}

// expectTurned makes room for the records that the bits which differ in the bitmaps of groups lead to: a block is one itself, and has
// an owner; an inode has its fields, and an entry of a directory.
func (d *delta) expectTurned(groups []uint32) error {
	n := 0
	for _, g := range groups {
		if d.fresh(g) {
			continue // of an image as a whole, which is compared in the background
		}
		blocks, err := d.turned(d.places[g].blockBitmap)
		if err != nil {
			return err
		}
		inodes, err := d.turned(d.places[g].inodeBitmap)
		if err != nil {
			return err
		}
		n += 2*blocks + inodes*(len(inodeFields)+4)
	}
	d.expect(n + n/16 + 4*len(inodeFields))
	return nil
}

// turned counts the bits of a bitmap that differ.
func (d *delta) turned(block uint32) (n int, err error) {
	if !d.rewrote(block) {
		return 0, nil
	}
	before, err := d.old.block(block)
	if err != nil {
		return 0, err
	}
	after, err := d.new.block(block)
	if err != nil {
		return 0, err
	}
	for i := 0; i < len(after); i += 8 {
		n += bits.OnesCount64(binary.LittleEndian.Uint64(before[i:]) ^ binary.LittleEndian.Uint64(after[i:]))
	}
	return n, nil
}

// zeros is what was in a block of a group that was not there. It is only read.
var zeros [maxBlockSize]byte

// bitmap calls visit for each bit below count that changed. Before, there were had bits.
func (d *delta) bitmap(block, had, count uint32, visit func(n uint32, set bool)) error {
	if !d.rewrote(block) && had == count {
		return nil
	}
	after, err := d.new.block(block)
	if err != nil {
		return err
	}
	before := zeros[:len(after)]
	if had > 0 {
		if before, err = d.old.block(block); err != nil {
			return err
		}
	}
	if 0 < had && had < count { // what was padding
		before = bytes.Clone(before)
		for n := had; n < count; n++ {
			before[n/8] &^= 1 << (n % 8)
		}
	}
	if n, ok := d.padded(before, after, had, count); !ok {
		d.fault(checkPadding.at(d.geo.addr(block)+uint64(n/8), "bit %d is clear, the group has %d", n, count))
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

// padded looks for a bit behind the end of a bitmap that was cleared; in an image, for one that is clear.
// Old mke2fs left them clear, and Linux leaves them as they are.
func (d *delta) padded(before, after []byte, had, count uint32) (n uint32, ok bool) {
	for n := max(had, count); n < 8*d.geo.blockSize; n++ {
		if n%8 == 0 && after[n/8] == 0xff {
			n += 7
			continue
		}
		if !bit(after, n) && (d.image != nil || bit(before, n)) {
			return n, false
		}
	}
	return 0, true
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
	for block := range d.rewrittenIn(table, d.geo.tableBlocks) { // in a new group, the inodes that the bitmap marks are looked at
		after, err := d.new.block(block)
		if err != nil {
			return err
		}
		before := zeros[:len(after)]
		if !d.fresh(g) {
			if before, err = d.old.block(block); err != nil {
				return err
			}
		}
		for n := range perBlock {
			i := (block-table)*perBlock + n
			if i >= d.geo.inodesPerGroup {
				break
			}
			was, is := before[n*d.geo.inodeSize:][:d.geo.inodeSize], after[n*d.geo.inodeSize:][:d.geo.inodeSize]
			if bytes.Equal(was, is) {
				continue
			}
			ino := g*d.geo.inodesPerGroup + i + 1
			if !bytes.Equal(was[:inodeLen], is[:inodeLen]) {
				d.inodes.add(ino)
			}
			if d.geo.inodeSize > inodeLen {
				d.bodies.add(ino)
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
	if !d.fresh(g) {
		before, err := d.was.desc(d.old, g)
		if err != nil {
			return err
		}
		old = d.was.groupValue(g, before)
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
