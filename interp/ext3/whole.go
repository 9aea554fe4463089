package ext3

import (
	"cmp"
	"slices"

	"fsward/change"
	"fsward/interp/ext3/ondisk"
)

// A whole is what is kept while all of a file system is gone through. What grows with the file system are sets of bits.
type whole struct {
	owners
	attrs   numberSet // extended attribute blocks that an inode names
	orphans numberSet // inodes on the list of orphans
	hashes  []uint64  // room for those of the names of a directory

	again    bool // it was gone through before, and its structure is sound
	drop     bool // where there is no room for records, they are counted, and dropped
	dropped  bool // they are
	tally    change.Tally
	part     func(*change.Txn) error // takes the records part by part, if not nil
	progress func(done, total uint64)
}

// whole makes the records of a file system in which everything is new, group by group and inode by inode, so that what is
// kept does not grow with them. The records of a block stand beside that of the first pointer to it.
func (d *delta) whole() error {
	if err := d.superblock(); err != nil {
		return err
	}
	if err := d.orphanList(); err != nil {
		return err
	}
	total, err := d.inodesInUse()
	if err != nil {
		return err
	}
	told := uint64(0)
	for g := range d.Geo.Groups {
		if err := d.group(g); err != nil {
			return err
		}
		for ino := range d.inodes.all() {
			if err := d.wholeInode(ino); err != nil {
				return err
			}
			if told++; d.image.progress != nil {
				d.image.progress(told, max(told, total))
			}
		}
		d.inodes, d.bodies = numberSet{}, numberSet{}
	}
	for block := range d.image.attrs.all() {
		if err := d.xattrBlock(block); err != nil {
			return err
		}
		if err := d.tooMany(); err != nil {
			return err
		}
	}
	for g := range d.Geo.Groups {
		if err := d.unowned(g); err != nil {
			return err
		}
		if err := d.groupFields(g); err != nil {
			return err
		}
		if err := d.tooMany(); err != nil {
			return err
		}
	}
	slices.SortFunc(d.image.sharers, func(a, b sharer) int { return cmp.Or(cmp.Compare(a.block, b.block), cmp.Compare(a.ino, b.ino)) })
	if d.image.part != nil || d.image.dropped {
		return d.handOn(0)
	}
	return nil
}

// handOn gives away the records, or counts them, once there are so many.
func (d *delta) handOn(least int) error {
	if len(d.txn.Records) <= least {
		return nil
	}
	w := d.image
	if w.part != nil {
		defer d.txn.NextPart()
		return w.part(d.txn)
	}
	w.tally.Add(d.txn.Records)
	if cap(d.txn.Records) > 2*change.PartRecords {
		d.txn.Records = nil // it once held what was kept
	}
	d.txn.NextPart()
	return nil
}

// inodesInUse is what the groups count.
func (d *delta) inodesInUse() (n uint64, err error) {
	for g := range d.Geo.Groups {
		desc, err := d.desc(d.new, g)
		if err != nil {
			return 0, err
		}
		n += uint64(d.Geo.InodesPerGroup - min(d.Geo.InodesPerGroup, uint32(ondisk.LE16(desc, ondisk.GroupFreeInodes))))
	}
	return n, nil
}

func (d *delta) wholeInode(ino uint32) error {
	marked, err := d.marked(d.new, ino)
	if err != nil {
		return err
	}
	if marked {
		d.bitRecords(change.Object{Kind: ondisk.KindInodeBit, ID: uint64(ino)}, ondisk.FieldInodeGroup, (ino-1)/d.Geo.InodesPerGroup, true)
	}
	if err := d.inodeTree(ino); err != nil {
		return err
	}
	if err := d.inodeFields(ino); err != nil {
		return err
	}
	if d.bodies.has(ino) {
		if err := d.body(ino); err != nil {
			return err
		}
	}
	return d.tooMany()
}

// OrphanList follows the list of orphans.
func (d *delta) orphanList() error {
	sb, err := d.new.super()
	if err != nil {
		return err
	}
	fault := func(format string, ino uint32) {
		d.fault(on(checkOrphans.at(ondisk.SuperOff+ondisk.SuperLastOrphan, format, ino), ondisk.KindSuperblock, 0))
	}
	for at := ondisk.LE32(sb, ondisk.SuperLastOrphan); at != 0; {
		switch {
		case at < d.Geo.FirstIno || at > d.Geo.Inodes:
			fault("the list names inode %d", at)
			return nil
		case !d.image.orphans.Add(at):
			fault("the list comes back to inode %d", at)
			return nil
		}
		d.txn.Add(change.Object{Kind: ondisk.KindOrphan, ID: uint64(at)})
		if err := d.tooMany(); err != nil {
			return err
		}
		i, err := d.Inode(d.new, at)
		if err != nil {
			return err
		}
		at = i.Dtime()
	}
	return nil
}

// claim notes that a pointer names a block; the first one brings the records of the block.
func (d *delta) claim(block uint32) error {
	w := d.image
	if !w.pointed.Add(block) {
		w.disputed.Add(block)
		return nil
	}
	if w.attrs.has(block) {
		return nil
	}
	return d.blockRecords(block)
}

// claimXattr is claim for an extended attribute block, which inodes may share.
func (d *delta) claimXattr(block, ino uint32) error {
	w := d.image
	if !d.Geo.InRange(block) {
		return nil // it was reported
	}
	d.txn.Add(change.Object{Kind: ondisk.KindXattrOwner, ID: uint64(block), Sub: uint64(ino)})
	if !w.again {
		w.sharers = append(w.sharers, sharer{block, ino})
	}
	if !w.attrs.Add(block) || w.pointed.has(block) {
		return nil
	}
	return d.blockRecords(block)
}

func (d *delta) blockRecords(block uint32) error {
	used, err := d.allocated(d.new, block)
	if err == nil && used {
		d.bitRecords(change.Object{Kind: ondisk.KindBlock, ID: uint64(block)}, ondisk.FieldGroup, d.Geo.GroupOf(block), true)
	}
	return err
}

// unowned makes the records of the blocks of a group that are marked as used and that nothing names.
func (d *delta) unowned(g uint32) error {
	start := d.Geo.GroupStart(g)
	for n := range d.Geo.GroupBlocks(g) {
		if block := start + n; !d.image.pointed.has(block) && !d.image.attrs.has(block) {
			if err := d.blockRecords(block); err != nil {
				return err
			}
			if err := d.tooMany(); err != nil {
				return err
			}
		}
	}
	return nil
}
