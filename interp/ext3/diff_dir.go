package ext3

import (
	"cmp"
	"fsward/change"
	"fsward/interp/ext3/ondisk"
	"slices"
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
	bs := d.Geo.BlockSize
	if before.inode != nil {
		visible := before.inode.DirBlocks(bs)
		for _, db := range oldBlocks {
			if db.start >= visible || !before.marked && before.inode.Links() == 0 ||
				!d.Geo.InRange(db.block) {
				continue
			}
			b, err := d.old.Block(db.block)
			if err != nil {
				return err
			}
			ondisk.Entries(b, d.Geo.FileType, func(e ondisk.Entry) {
				names.at(e.Name).was = entryValue{e.Ino,
					e.Type}
			})
		}
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
			d.entryRecords(ino, n.name, n.was, n.is)
		}
	}
	return d.tooMany()
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
			n.is = entryValue{e.Ino, e.Type}
		})
		for _, v := range faults {
			d.fault(v)
		}
	}
	if old := before.mapped(ino); i.HasIndex() && (len(blocks) > 0 || old == nil || !old.HasIndex()) {
		return d.index(ino, before, i, blocks)
	}
	return nil
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
