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
	names *nameTable // of the directory that is compared
}

// compare compares the entries in the blocks of a directory that changed. It compares them by name:
// the place of an entry in the directory has no meaning.
func (d *dirDiff) compare(ino uint32, before, after side, oldBlocks, newBlocks []dirBlock) error {
	names := d.names
	names.reset()
	if err := d.oldEntries(before, oldBlocks); err != nil {
		return err
	}
	if after.mapped(ino) != nil && after.inode.ListsNames() {
		if err := d.newEntries(ino, before, after.inode, newBlocks); err != nil {
			return err
		}
	}
	gone, now := names.changed()
	if after.inode != nil && slices.ContainsFunc(now,
		func(n *nameDiff) bool { return n.was.ino == 0 }) {
		if err := d.elsewhere(ino, after.inode, newBlocks); err != nil {
			return err
		}
	}
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

// oldEntries notes the names in the blocks of a directory that changed, before the transaction.
func (d *dirDiff) oldEntries(before side, blocks []dirBlock) error {
	i := before.inode
	if i == nil || !before.marked && i.Links() == 0 {
		return nil
	}
	visible := i.DirBlocks(d.Geo.BlockSize)
	for _, db := range blocks {
		if db.start >= visible || !d.Geo.InRange(db.block) {
			continue
		}
		b, err := d.old.Block(db.block)
		if err != nil {
			return err
		}
		ondisk.Entries(b, d.Geo.FileType, func(e ondisk.Entry) {
			d.names.at(e.Name).was = entryOf(db.block, e)
		})
		d.names.noted++
		if err := d.tooMany(); err != nil {
			return err
		}
	}
	return nil
}

// newEntries checks the blocks of a directory that changed, notes the names in them, and checks the
// index.
func (d *dirDiff) newEntries(ino uint32, before side, i ondisk.Inode, blocks []dirBlock) error {
	visible := i.DirBlocks(d.Geo.BlockSize)
	if i.Pointer(0) == 0 {
		d.fault(on(checkDots.at(d.inodeAddr(ino), "the directory has no first block"), ondisk.KindInode,
			uint64(ino)))
		return nil
	}
	slices.SortFunc(blocks, func(a, b dirBlock) int { return cmp.Compare(a.start, b.start) })
	for _, db := range blocks {
		if db.start >= visible {
			continue
		}
		b, err := d.new.Block(db.block)
		if err != nil {
			return err
		}
		faults := d.checkDir(ino, b, db.block, db.start == 0, func(e ondisk.Entry) {
			n := d.names.at(e.Name)
			if n.is.ino != 0 {
				d.fault(on(checkDirentName.at(d.Geo.Addr(db.block)+uint64(e.Off), "%q occurs twice", e.Name),
					ondisk.KindInode, uint64(ino)))
			}
			n.is = entryOf(db.block, e)
		})
		for _, v := range faults {
			d.fault(v)
		}
		d.names.noted++
		if err := d.tooMany(); err != nil {
			return err
		}
	}
	if old := before.mapped(ino); i.HasIndex() && (len(blocks) > 0 || old == nil || !old.HasIndex()) {
		return d.index(ino, before, i, blocks)
	}
	return nil
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
