package ext3

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"fsward/change"
	"fsward/interp/ext3/ondisk"
)

// desc returns the descriptor of a group in a state.
func (l *Layout) desc(s *State, g uint32) ([]byte, error) {
	perBlock := l.Geo.PerDescBlock()
	b, err := s.Block(l.Geo.DescBlock(g / perBlock))
	if err != nil {
		return nil, err
	}
	off := g % perBlock * ondisk.DescLen
	return b[off : off+ondisk.DescLen], nil
}

// group compares the bitmaps and the inode table of a group, and notes whether it has anything to tell.
func (d *delta) group(g uint32) error {
	p := d.Places[g]
	if descBlock := d.Geo.DescBlock(g / d.Geo.PerDescBlock()); d.rewrote(descBlock) || d.fresh(g) {
		if err := d.descriptor(g, p, descBlock); err != nil {
			return err
		}
	}
	if err := d.fixedOwners(g, p); err != nil {
		return err
	}
	start := d.Geo.GroupStart(g)
	had, hadInodes := uint32(0), uint32(0)
	if !d.fresh(g) {
		had, hadInodes = d.was.Geo.GroupBlocks(g), d.Geo.InodesPerGroup
	}
	err := d.bitmap(p.BlockBitmap, had, d.Geo.GroupBlocks(g), func(n uint32, set bool) {
		d.groups.Add(g)
		if d.image == nil {
			d.bitRecords(change.Object{Kind: ondisk.KindBlock, ID: uint64(start + n)}, ondisk.FieldGroup, g, set)
		}
	})
	if err != nil {
		return err
	}
	err = d.bitmap(p.InodeBitmap, hadInodes, d.Geo.InodesPerGroup, func(n uint32, set bool) {
		ino := g*d.Geo.InodesPerGroup + n + 1
		d.groups.Add(g)
		d.inodes.Add(ino)
		if d.image == nil {
			d.bitRecords(change.Object{Kind: ondisk.KindInodeBit, ID: uint64(ino)}, ondisk.FieldInodeGroup, g, set)
		}
	})
	if err != nil {
		return err
	}
	return d.inodeTable(g, p.InodeTable)
}

func (d *delta) descriptor(g uint32, p ondisk.Places, block uint32) error {
	after, err := d.desc(d.new, g)
	if err != nil {
		return err
	}
	addr := d.Geo.Addr(block) + uint64(g%d.Geo.PerDescBlock())*ondisk.DescLen
	if now := (ondisk.Places{BlockBitmap: ondisk.LE32(after, ondisk.GroupBlockBitmap), InodeBitmap: ondisk.LE32(after, ondisk.GroupInodeBitmap), InodeTable: ondisk.LE32(after, ondisk.GroupInodeTable)}); now != p {
		d.fault(on(checkGroup.at(addr, "the bitmaps and the inode table were at blocks %v, the descriptor now says %v", p, now), ondisk.KindGroup, uint64(g)))
		return nil
	}
	free, inodes, dirs := uint32(ondisk.LE16(after, ondisk.GroupFreeBlocks)), uint32(ondisk.LE16(after, ondisk.GroupFreeInodes)), uint32(ondisk.LE16(after, ondisk.GroupUsedDirs))
	if free > d.Geo.GroupBlocks(g) || inodes > d.Geo.InodesPerGroup || dirs > d.Geo.InodesPerGroup {
		d.fault(on(checkGroup.at(addr, "%d of %d blocks and %d of %d inodes free, %d directories", free, d.Geo.GroupBlocks(g), inodes, d.Geo.InodesPerGroup, dirs), ondisk.KindGroup, uint64(g)))
		return nil
	}
	if d.fresh(g) {
		d.groups.Add(g)
		return nil
	}
	before, err := d.was.desc(d.old, g)
	if err != nil {
		return err
	}
	if !bytes.Equal(before, after) {
		d.groups.Add(g)
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
		blocks, err := d.turned(d.Places[g].BlockBitmap)
		if err != nil {
			return err
		}
		inodes, err := d.turned(d.Places[g].InodeBitmap)
		if err != nil {
			return err
		}
		n += 2*blocks + inodes*(len(ondisk.InodeRecordFields)+4)
	}
	d.expect(n + n/16 + 4*len(ondisk.InodeRecordFields))
	return nil
}

// turned counts the bits of a bitmap that differ.
func (d *delta) turned(block uint32) (n int, err error) {
	if !d.rewrote(block) {
		return 0, nil
	}
	before, err := d.old.Block(block)
	if err != nil {
		return 0, err
	}
	after, err := d.new.Block(block)
	if err != nil {
		return 0, err
	}
	for i := 0; i < len(after); i += 8 {
		n += bits.OnesCount64(binary.LittleEndian.Uint64(before[i:]) ^ binary.LittleEndian.Uint64(after[i:]))
	}
	return n, nil
}

// zeros is what was in a block of a group that was not there. It is only read.
var zeros [ondisk.MaxBlockSize]byte

// bitmap calls visit for each bit below count that changed. Before, there were had bits.
func (d *delta) bitmap(block, had, count uint32, visit func(n uint32, set bool)) error {
	if !d.rewrote(block) && had == count {
		return nil
	}
	after, err := d.new.Block(block)
	if err != nil {
		return err
	}
	before := zeros[:len(after)]
	if had > 0 {
		if before, err = d.old.Block(block); err != nil {
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
		d.fault(checkPadding.at(d.Geo.Addr(block)+uint64(n/8), "bit %d is clear, the group has %d", n, count))
	}
	for i := range (count + 7) / 8 {
		if before[i] == after[i] {
			continue
		}
		for n := 8 * i; n < min(8*i+8, count); n++ {
			if set := ondisk.Bit(after, n); set != ondisk.Bit(before, n) {
				visit(n, set)
			}
		}
	}
	return nil
}

// padded looks for a bit behind the end of a bitmap that was cleared; in an image, for one that is clear.
// Old mke2fs left them clear, and Linux leaves them as they are.
func (d *delta) padded(before, after []byte, had, count uint32) (n uint32, ok bool) {
	for n := max(had, count); n < 8*d.Geo.BlockSize; n++ {
		if n%8 == 0 && after[n/8] == 0xff {
			n += 7
			continue
		}
		if !ondisk.Bit(after, n) && (d.image != nil || ondisk.Bit(before, n)) {
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
	perBlock := d.Geo.BlockSize / d.Geo.InodeSize
	for block := range d.rewrittenIn(table, d.Geo.TableBlocks) { // in a new group, the inodes that the bitmap marks are looked at
		after, err := d.new.Block(block)
		if err != nil {
			return err
		}
		before := zeros[:len(after)]
		if !d.fresh(g) {
			if before, err = d.old.Block(block); err != nil {
				return err
			}
		}
		for n := range perBlock {
			i := (block-table)*perBlock + n
			if i >= d.Geo.InodesPerGroup {
				break
			}
			was, is := before[n*d.Geo.InodeSize:][:d.Geo.InodeSize], after[n*d.Geo.InodeSize:][:d.Geo.InodeSize]
			if bytes.Equal(was, is) {
				continue
			}
			ino := g*d.Geo.InodesPerGroup + i + 1
			if !bytes.Equal(was[:ondisk.InodeLen], is[:ondisk.InodeLen]) {
				d.inodes.Add(ino)
			}
			if d.Geo.InodeSize > ondisk.InodeLen {
				d.bodies.Add(ino)
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
	o := change.Object{Kind: ondisk.KindGroup, ID: uint64(g)}
	r := change.Record{Object: o, Field: change.FieldObject, New: change.Present}
	if old != nil {
		r.Old = change.Present
	}
	d.txn.Append(r)
	for _, f := range schema.Kinds[ondisk.KindGroup].Fields {
		r := change.Record{Object: o, Field: f, New: now(f)}
		if old != nil {
			r.Old = old(f)
		}
		if r.Old != r.New || f == ondisk.FieldFreeBlocks || f == ondisk.FieldFreeInodes || f == ondisk.FieldUsedDirs {
			d.txn.Append(r)
		}
	}
	return nil
}

func (l *Layout) groupValue(g uint32, desc []byte) func(change.Field) change.Value {
	get := ondisk.Values(ondisk.GroupFields, desc)
	return func(f change.Field) change.Value {
		switch f {
		case ondisk.FieldBlocksCount:
			return change.Num(uint64(l.Geo.GroupBlocks(g)))
		case ondisk.FieldInodesCount:
			return change.Num(uint64(l.Geo.InodesPerGroup))
		}
		return get(f)
	}
}
