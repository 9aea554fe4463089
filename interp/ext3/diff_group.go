package ext3

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"maps"
	"math/bits"
	"slices"

	"fsward/change"
	"fsward/interp/ext3/ondisk"
)

// A groupDiff compares the bitmaps, the inode tables and the descriptors of groups. It puts the
// inodes that differ on the work list.
type groupDiff struct{ *compared }

// touched returns, in order, the groups of which the transaction rewrote a block or the descriptor.
// All metadata of a group is in the group (see Misplaced), so that the cost depends on the size of
// the transaction.
func (d *groupDiff) touched() []uint32 {
	groups := make(map[uint32]bool)
	perBlock := d.Geo.PerDescBlock()
	if d.was != d.Layout {
		for g := range d.Geo.Groups { // new groups, and groups in which descriptors take more room
			if d.fresh(g) || d.was.Geo.HeadBlocks(g) != d.Geo.HeadBlocks(g) {
				groups[g] = true
			}
		}
		groups[d.was.Geo.Groups-1] = true // the last group may have become longer
	}
	for block := range d.rewritten {
		if !d.Geo.InRange(block) {
			continue
		}
		groups[d.Geo.GroupOf(block)] = true
		if i, ok := d.Geo.DescIndex(block); ok {
			for g := i * perBlock; g < min((i+1)*perBlock, d.Geo.Groups); g++ {
				groups[g] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(groups))
}

// compare compares the bitmaps and the inode table of a group, and decides whether the group gets
// records.
func (d *groupDiff) compare(g uint32) error {
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
	had := uint32(0)
	if !d.fresh(g) {
		had = d.was.Geo.GroupBlocks(g)
	}
	err := d.bitmap(p.BlockBitmap, had, d.Geo.GroupBlocks(g), func(first, n uint32, set bool) {
		d.todo.groups.add(g)
		if d.image != nil {
			return
		}
		b := blockRun{first: start + first, n: n, of: g, how: freed, pos: uint64(start + first)}
		if set {
			b.how = marked
		}
		d.blocks.add(b)
	})
	if err != nil {
		return err
	}
	err = d.inodeBits(g, func(ino uint32, set bool) error {
		d.todo.groups.add(g)
		d.todo.inodes.add(ino)
		if d.image != nil {
			return nil
		}
		d.inodeBit(ino, g, set)
		return d.tooMany()
	})
	if err != nil {
		return err
	}
	return d.inodeTable(g, p.InodeTable)
}

// inodeBits calls visit for the changed bits in the inode bitmap of a group. It returns the first
// error of visit.
func (d *groupDiff) inodeBits(g uint32, visit func(ino uint32, set bool) error) (failed error) {
	had := d.Geo.InodesPerGroup
	if d.fresh(g) {
		had = 0
	}
	err := d.bitmap(d.Places[g].InodeBitmap, had, d.Geo.InodesPerGroup, func(first, n uint32,
		set bool) {
		for i := uint32(0); i < n && failed == nil; i++ {
			failed = visit(g*d.Geo.InodesPerGroup+first+i+1, set)
		}
	})
	return cmp.Or(failed, err)
}

// descriptor compares the descriptor of a group, and checks it.
func (d *groupDiff) descriptor(g uint32, p ondisk.Places, block uint32) error {
	after, err := d.new.desc(g)
	if err != nil {
		return err
	}
	addr := d.Geo.Addr(block) + uint64(g%d.Geo.PerDescBlock())*ondisk.GroupDescLen
	if now := (ondisk.Places{BlockBitmap: ondisk.GroupDescOf(after).BlockBitmap(),
		InodeBitmap: ondisk.GroupDescOf(after).InodeBitmap(),
		InodeTable:  ondisk.GroupDescOf(after).InodeTable()}); now != p {
		d.fault(on(checkGroup.at(addr,
			"the bitmaps and the inode table were at blocks %v, the descriptor now says %v", p, now),
			ondisk.KindGroup, uint64(g)))
		return nil
	}
	free, inodes, dirs := uint32(ondisk.GroupDescOf(after).FreeBlocksCount()),
		uint32(ondisk.GroupDescOf(after).FreeInodesCount()),
		uint32(ondisk.GroupDescOf(after).UsedDirsCount())
	if free > d.Geo.GroupBlocks(g) || inodes > d.Geo.InodesPerGroup || dirs > d.Geo.InodesPerGroup {
		d.fault(on(checkGroup.at(addr, "%d of %d blocks and %d of %d inodes free, %d directories", free,
			d.Geo.GroupBlocks(g), inodes, d.Geo.InodesPerGroup, dirs), ondisk.KindGroup, uint64(g)))
		return nil
	}
	if d.fresh(g) {
		d.todo.groups.add(g)
		return nil
	}
	before, err := Snapshot{d.was, d.old.State}.desc(g)
	if err != nil {
		return err
	}
	if !bytes.Equal(before, after) {
		d.todo.groups.add(g)
	}
	return nil
}

// compareFields makes the records of the descriptor of a group.
func (d *groupDiff) compareFields(g uint32) error {
	after, err := d.new.desc(g)
	if err != nil {
		return err
	}
	var old func(change.Field) change.Value
	if !d.fresh(g) {
		before, err := Snapshot{d.was, d.old.State}.desc(g)
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
		if r.Old != r.New || f == ondisk.FieldFreeBlocks || f == ondisk.FieldFreeInodes ||
			f == ondisk.FieldUsedDirs {
			d.txn.Append(r)
		}
	}
	return nil
}

// inodeTable notes the inodes that differ in the blocks of a group's table that were rewritten.
func (d *groupDiff) inodeTable(g, table uint32) error {
	if d.image != nil {
		return d.new.eachBlock(table, d.Geo.TableBlocks, func(block uint32, after []byte) error {
			return d.tableBlock(g, block-table, zeros[:len(after)], after)
		})
	}
	// in a new group, the bitmap says which inodes to compare
	for block := range d.rewrittenIn(table, d.Geo.TableBlocks) {
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
		if err := d.tableBlock(g, block-table, before, after); err != nil {
			return err
		}
	}
	return nil
}

// tableBlock notes the inodes that differ in the block at an index of a group's table.
func (d *groupDiff) tableBlock(g, index uint32, before, after []byte) error {
	if bytes.Equal(before, after) {
		return nil
	}
	perBlock := d.Geo.BlockSize / d.Geo.InodeSize
	for n := range perBlock {
		i := index*perBlock + n
		if i >= d.Geo.InodesPerGroup {
			break
		}
		was, is := before[n*d.Geo.InodeSize:][:d.Geo.InodeSize],
			after[n*d.Geo.InodeSize:][:d.Geo.InodeSize]
		if bytes.Equal(was, is) {
			continue
		}
		ino := g*d.Geo.InodesPerGroup + i + 1
		if !bytes.Equal(was[:ondisk.InodeLen], is[:ondisk.InodeLen]) {
			d.todo.inodes.add(ino)
		}
		if d.Geo.InodeSize > ondisk.InodeLen {
			if err := d.checkBody(ino); err != nil {
				return err
			}
		}
	}
	return nil
}

// expectChanged reserves room for the records that follow from changed bits in the inode bitmaps of
// groups. An inode makes records of its fields, of a directory entry, and of a block.
func (d *groupDiff) expectChanged(groups []uint32) error {
	n := 0
	for _, g := range groups {
		if d.fresh(g) {
			continue // a whole image is compared in the background
		}
		inodes, err := d.changedBits(d.Places[g].InodeBitmap)
		if err != nil {
			return err
		}
		n += inodes * (len(ondisk.InodeRecordFields) + 8)
	}
	return d.expect(n + n/16 + 4*len(ondisk.InodeRecordFields))
}

// changedBits counts the bits of a bitmap that differ.
func (d *groupDiff) changedBits(block uint32) (n int, err error) {
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
		old, now := binary.LittleEndian.Uint64(before[i:]), binary.LittleEndian.Uint64(after[i:])
		n += bits.OnesCount64(old ^ now)
	}
	return n, nil
}

// fixedOwners notes the blocks of a group that become metadata with a fixed place.
func (d *groupDiff) fixedOwners(g uint32, p ondisk.Places) error {
	add := func(first, n uint32) {
		if n == 0 {
			return // the group has no copy of the superblock, and its bitmaps stand elsewhere
		}
		d.blocks.add(blockRun{first: first, n: n, how: named, pos: uint64(first)})
	}
	start, head := d.Geo.GroupStart(g), d.Geo.HeadBlocks(g)
	switch had := d.was.Geo.HeadBlocks(g); {
	case d.fresh(g):
		add(start, head)
		add(p.BlockBitmap, 1)
		add(p.InodeBitmap, 1)
		add(p.InodeTable, d.Geo.TableBlocks)
	case had < head:
		add(start+had, head-had)
	}
	if d.image != nil {
		return d.image.claimRuns()
	}
	return nil
}

func (l *Layout) groupValue(g uint32, desc []byte) func(change.Field) change.Value {
	get := ondisk.GroupLayout.Values(desc)
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
