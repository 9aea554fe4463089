package ext3

import (
	"cmp"
	"errors"
	"slices"

	"fsward/change"
	"fsward/interp/ext3/ondisk"
)

// A dirDiff compares directories, one after the other.
type dirDiff struct {
	*compared
	names  *nameTable     // of the directory that is compared
	before []ondisk.Entry // scratch: the entries of a block before the transaction
}

// compare compares the entries in the blocks of a directory that changed. It compares them by name:
// the place of an entry in the directory has no meaning.
func (d *dirDiff) compare(ino uint32, before, after side, oldBlocks, newBlocks []dirBlock) error {
	names := d.names
	names.reset()
	oldBlocks, newBlocks = d.visible(before, oldBlocks), d.visible(after, newBlocks)
	if i := after.inode; after.mapped(ino) != nil && i.ListsNames() {
		if i.Pointer(0) == 0 {
			d.fault(on(checkDots.at(d.inodeAddr(ino), "the directory has no first block"),
				ondisk.KindInode, uint64(ino)))
		} else if err := d.newEntries(ino, before, i, oldBlocks, newBlocks); err != nil {
			return err
		}
	} else if err := d.compareBlocks(ino, oldBlocks, nil); err != nil {
		return err
	}
	gone, now := names.changed()
	for _, list := range [][]*nameDiff{gone, now} {
		for _, n := range list {
			d.entries.add(ino, n)
			d.entryRecords(ino, n.name, n.was, n.is)
			if err := d.tooMany(); err != nil {
				return err
			}
		}
	}
	return nil
}

// visible returns the blocks of a directory that have entries on one side, in the order of their
// places in the directory.
func (d *dirDiff) visible(s side, blocks []dirBlock) []dirBlock {
	if s.inode == nil || !s.marked && s.inode.Links() == 0 {
		return nil
	}
	visible := s.inode.DirBlocks(d.Geo.BlockSize)
	blocks = slices.DeleteFunc(blocks, func(b dirBlock) bool {
		return b.start >= visible || !d.Geo.InRange(b.block)
	})
	slices.SortFunc(blocks, func(a, b dirBlock) int { return cmp.Compare(a.start, b.start) })
	return blocks
}

// newEntries compares the blocks of a directory that changed, and checks them and the index.
func (d *dirDiff) newEntries(ino uint32, before side, i ondisk.Inode,
	oldBlocks, newBlocks []dirBlock) error {
	if err := d.compareBlocks(ino, oldBlocks, newBlocks); err != nil {
		return err
	}
	if err := d.elsewhere(ino, i, newBlocks); err != nil {
		return err
	}
	if old := before.mapped(ino); i.HasIndex() && (len(newBlocks) > 0 || old == nil ||
		!old.HasIndex()) {
		return d.index(ino, before, i, newBlocks)
	}
	return nil
}

// compareBlocks notes the names of the entries of a directory that changed, and checks the new
// blocks. Most entries of a block that was rewritten stay where they were: they are not noted.
func (d *dirDiff) compareBlocks(ino uint32, oldBlocks, newBlocks []dirBlock) error {
	left := make(map[uint32]bool, len(oldBlocks)) // old blocks that were not compared yet
	for _, b := range oldBlocks {
		left[b.block] = true
	}
	for _, b := range newBlocks {
		if err := d.readBefore(b.block, left[b.block]); err != nil {
			return err
		}
		delete(left, b.block)
		if err := d.compareBlock(ino, b); err != nil {
			return err
		}
	}
	for _, b := range oldBlocks {
		if !left[b.block] {
			continue
		}
		delete(left, b.block)
		if err := d.readBefore(b.block, true); err != nil {
			return err
		}
		d.left(b.block, d.before)
		if err := d.tooMany(); err != nil {
			return err
		}
	}
	return nil
}

// readBefore reads the entries of a block before the transaction, if it was in the directory.
func (d *dirDiff) readBefore(block uint32, was bool) error {
	d.before = d.before[:0]
	if !was {
		return nil
	}
	b, err := d.old.Block(block)
	if err == nil {
		ondisk.Entries(b, d.Geo.FileType, func(e ondisk.Entry) { d.before = append(d.before, e) })
	}
	return err
}

// left notes entries of a block that are not in their places any more.
func (d *dirDiff) left(block uint32, entries []ondisk.Entry) {
	for _, e := range entries {
		d.names.at(e.Name).was = entryOf(block, e)
	}
}

// compareBlock compares a block with the entries that it had, and checks it.
func (d *dirDiff) compareBlock(ino uint32, db dirBlock) error {
	b, err := d.new.Block(db.block)
	if err != nil {
		return err
	}
	before := d.before
	faults := d.checkDir(ino, b, db.block, db.start == 0, func(e ondisk.Entry) {
		n := 0
		for n < len(before) && before[n].Off < e.Off {
			n++
		}
		d.left(db.block, before[:n])
		before = before[n:]
		if len(before) > 0 && before[0].Equal(e) {
			before = before[1:]
			return
		}
		if at := d.names.at(e.Name); at.is.ino == 0 { // namesAgain reports the second one
			at.is = entryOf(db.block, e)
		}
	})
	for _, v := range faults {
		d.fault(v)
	}
	d.left(db.block, before)
	return d.tooMany()
}

// changed makes the records of an entry that changed.
func (d *dirDiff) changed(dir uint32, c changedEntry) error {
	name, was, is, err := d.read(c)
	if err == nil {
		d.entryRecords(dir, name, was, is)
	}
	return err
}

// read reads an entry that changed, in both states.
func (d *dirDiff) read(c changedEntry) (name []byte, was, is entryValue, err error) {
	name, was, err = d.entryAt(d.old, c.wasBlock, c.wasOff)
	if err != nil || c.block == 0 {
		return name, was, is, err
	}
	name, is, err = d.entryAt(d.new, c.block, c.off)
	return name, was, is, err
}

var errChanged = errors.New("ext3: a directory block changed while it was read")

// entryAt returns the entry at a place in a state, or a nil name for block 0.
func (d *dirDiff) entryAt(s Snapshot, block uint32, off uint16) (name []byte, v entryValue,
	err error) {
	if block == 0 {
		return nil, v, nil
	}
	b, err := s.Block(block)
	if err != nil {
		return nil, v, err
	}
	e, ok := ondisk.EntryAt(b, int(off), d.Geo.FileType)
	if !ok || e.Ino == 0 {
		return nil, v, errChanged
	}
	return e.Name, entryOf(block, e), nil
}

// entryRecords makes the records of one entry. An entryValue of inode 0 means no entry. If only the
// type changed, there is a record of the inode too.
func (d *dirDiff) entryRecords(dir uint32, name []byte, was, is entryValue) {
	value := func(v entryValue) func(change.Field) change.Value {
		if v.ino == 0 {
			return nil
		}
		if d.image == nil && v.ino <= d.Geo.Inodes && was.ino != is.ino {
			d.todo.named.add(v.ino)
		}
		return func(f change.Field) change.Value {
			switch {
			case f == ondisk.FieldInode:
				return change.Num(uint64(v.ino))
			case d.Geo.FileType:
				return ondisk.TypeWord(v.typ)
			}
			return change.Value{}
		}
	}
	o := change.Object{Kind: ondisk.KindDirent, ID: uint64(dir), Sub: d.txn.Names.Handle(name)}
	d.object(o, schema.Kinds[ondisk.KindDirent].Fields, value(was), value(is), ondisk.FieldInode)
}
