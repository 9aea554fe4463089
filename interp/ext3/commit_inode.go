package ext3

import (
	"bytes"
	"cmp"
	"slices"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

// A side is an inode in one of the two states; zero where the file system did not exist.
type side struct {
	inode  ondisk.Inode
	marked bool
}

func (s side) exists() bool { return s.inode != nil && s.inode.Exists(s.marked) }

// mapped returns the inode if its pointers are pointers, else nil. Those of the inode of bad blocks are, though it
// has neither a type nor links.
func (s side) mapped(ino uint32) ondisk.Inode {
	if s.inode == nil || !s.inode.Maps(s.marked) && (ino != ondisk.BadIno || !s.marked) {
		return nil
	}
	return s.inode
}

func (s side) acl() uint32 {
	if !s.exists() {
		return 0
	}
	return s.inode.FileACL()
}

func (d *delta) sides(ino uint32) (before, after side, err error) {
	if d.image == nil && ino <= d.was.Geo.Inodes {
		if before.inode, err = d.Inode(d.old, ino); err != nil {
			return
		}
		if before.marked, err = d.marked(d.old, ino); err != nil {
			return
		}
	}
	if after.inode, err = d.Inode(d.new, ino); err != nil {
		return
	}
	after.marked, err = d.marked(d.new, ino)
	return
}

// inodeTree compares what an inode points to: its blocks, its extended attribute block, its entries.
func (d *delta) inodeTree(ino uint32) error {
	before, after, err := d.sides(ino)
	if err != nil {
		return err
	}
	faults := d.checkInode(ino, after.inode, after.marked)
	for _, v := range faults {
		d.fault(v)
	}
	if len(faults) > 0 {
		return nil
	}
	if i := after.inode; !after.exists() && ino >= d.Geo.FirstIno && undated(i) && (before.inode == nil || before.exists() || !undated(before.inode)) {
		d.fault(on(checkDeleted.at(d.inodeAddr(ino), "the mode is %#o and there is no time", i.Mode()), ondisk.KindInode, uint64(ino)))
	}
	if err := d.slowLink(ino, after); err != nil {
		return err
	}
	if err := d.xattrPointer(ino, before, after); err != nil {
		return err
	}

	was, is := before.mapped(ino), after.mapped(ino)
	wasDir, isDir := was != nil && was.IsDir(), is != nil && is.IsDir()
	var oldBlocks, newBlocks []dirBlock
	note := func(level int, start uint64, block uint32, gone, came bool) {
		if level == 0 && gone && wasDir {
			oldBlocks = append(oldBlocks, dirBlock{start, block})
		}
		if level == 0 && came && isDir {
			newBlocks = append(newBlocks, dirBlock{start, block})
		}
		if d.image != nil {
			return
		}
		if gone && (level > 0 || wasDir) {
			d.noRole[block] = Role{ino, uint8(level), uint32(start)}
		}
		if came && (level > 0 || isDir) {
			d.newRole[block] = Role{ino, uint8(level), uint32(start)}
		}
	}
	tree := TreeDiff{Layout: d.Layout, old: d.old, New: d.new, rewrote: d.rewrote, Visited: d.visited,
		whole: wasDir != isDir || wasDir && was.DirBlocks(d.Geo.BlockSize) != is.DirBlocks(d.Geo.BlockSize)}
	tree.removed = func(level int, start uint64, block uint32) error {
		d.txn.Delete(ownerOf(block, ino, level, start))
		d.owned.Add(ino)
		note(level, start, block, true, false)
		return d.tooMany()
	}
	tree.Added = func(level int, start uint64, block uint32) (bool, error) {
		if !d.Geo.InRange(block) || d.FixedMeta(block) {
			d.fault(on(checkPointer.at(d.inodeAddr(ino), "the pointer at position %d names block %d", position(level, start), block), ondisk.KindInode, uint64(ino)))
			return false, nil
		}
		if err := d.owner(ownerOf(block, ino, level, start)); err != nil {
			return false, err
		}
		note(level, start, block, false, true)
		if level == 0 {
			d.showsData(ino, is, start, block)
			return false, d.tooMany()
		}
		fault := func(format string, args ...any) {
			d.fault(on(checkIndirect.at(d.Geo.Addr(block), format, args...), ondisk.KindInode, uint64(ino)))
		}
		switch known := d.roles[block]; {
		case !d.visited.New.Add(block):
			if d.image == nil { // of an image, rule 5 tells of the second owner
				fault("it is used again at position %d", position(level, start))
			}
			return false, nil
		case !d.leap && !d.rewrote(block) && int(known.Level) != level:
			fault("position %d begins to point to it, and the transaction does not write it", position(level, start))
			return false, nil
		}
		return true, d.tooMany()
	}
	tree.same = func(level int, start uint64, block uint32) error {
		note(level, start, block, true, true)
		return nil
	}
	if err := tree.Inodes(was, is); err != nil {
		return err
	}
	if was != nil && is != nil {
		if err := tree.rewritten(d.indirect[ino]); err != nil {
			return err
		}
	}
	if !tree.whole {
		oldBlocks, newBlocks = d.addRewritten(ino, oldBlocks, newBlocks)
	}
	if d.image != nil && isDir {
		return d.wholeDirectory(ino, after, newBlocks)
	}
	if wasDir || isDir {
		return d.directory(ino, before, after, oldBlocks, newBlocks)
	}
	return nil
}

// slowLink checks a symbolic link with a block of its own that the transaction writes. Linux before 6.2 does not write it
// to the journal but, mounted as by default, to its place before the commit; that is not waited for with data=writeback.
func (d *delta) slowLink(ino uint32, after side) error {
	i := after.mapped(ino)
	if i == nil || i.Type() != ondisk.ModeLink || i.Links() == 0 || !d.Geo.InRange(i.Pointer(0)) || !d.leap && !d.rewrote(i.Pointer(0)) {
		return nil
	}
	b, err := d.new.Block(i.Pointer(0))
	if err != nil {
		return err
	}
	if n := bytes.IndexByte(b, 0); uint64(n) != i.Size() {
		d.fault(on(checkSymlink.at(d.Geo.Addr(i.Pointer(0)), "size is %d, the name ends after %d bytes", i.Size(), n), ondisk.KindInode, uint64(ino)))
	}
	return nil
}

// undated tells whether a deleted inode looks like one that was in use and has no time of deletion.
func undated(i ondisk.Inode) bool { return i.Mode() != 0 && i.Dtime() == 0 }

// owner makes the records of a pointer that comes to name a block.
func (d *delta) owner(o change.Object) error {
	d.txn.Add(o)
	if d.image != nil {
		return d.claim(uint32(o.ID))
	}
	d.owned.Add(uint32(o.Sub))
	return nil
}

// tooMany tells, as an error, that there is no room for more records. They are moved to half as much again when little
// room is left: append alone would move each of a million of them four times.
func (d *delta) tooMany() error {
	if d.image != nil && (d.image.part != nil || d.image.dropped) {
		return d.handOn(change.PartRecords)
	}
	if n := len(d.txn.Records); n > maxExpected/4 && cap(d.txn.Records)-n < 2*len(ondisk.InodeRecordFields) {
		d.move(n + n/2)
	}
	full := d.full()
	if full != nil && d.image != nil && d.image.drop {
		d.image.dropped = true
		return d.handOn(0)
	}
	return full
}

// expect makes room for about n more records at once, if there is room.
func (d *delta) expect(n int) {
	all := len(d.txn.Records) + n
	if all > cap(d.txn.Records) && all <= maxRecords && d.memory.Holds(uint64(all)*interp.RecordBytes+d.txn.Names.Bytes()) {
		d.move(all)
	}
}

// move moves the records to where there is room for so many. Unlike slices.Grow it leaves what is behind them as the
// system gives it: to clear many megabytes takes as long as filling them.
func (d *delta) move(room int) {
	records := make([]change.Record, len(d.txn.Records), room)
	copy(records, d.txn.Records)
	d.txn.Records = records
}

func (d *delta) full() error {
	if len(d.txn.Records) > maxRecords {
		return errTooMany
	}
	if !d.memory.Holds(uint64(len(d.txn.Records))*interp.RecordBytes + d.txn.Names.Bytes()) {
		return d.memory.Full()
	}
	return nil
}

// addRewritten adds the blocks of a directory that were rewritten where they are.
func (d *delta) addRewritten(ino uint32, before, after []dirBlock) (oldBlocks, newBlocks []dirBlock) {
	moved := make(map[uint32]bool, len(before)+len(after))
	for _, b := range before {
		moved[b.block] = true
	}
	for _, b := range d.dirs[ino] {
		if !moved[b.block] {
			before, after = append(before, b), append(after, b)
		}
	}
	return before, after
}

func ownerOf(block, ino uint32, level int, start uint64) change.Object {
	return change.Object{Kind: ondisk.KindOwner, ID: uint64(block), Sub: uint64(ino), Aux: position(level, start)}
}

func (d *delta) xattrPointer(ino uint32, before, after side) error {
	was, is := before.acl(), after.acl()
	if was == is {
		return nil
	}
	if d.image != nil {
		return d.claimXattr(is, ino)
	}
	owner := func(block uint32) change.Object {
		d.xattrs.Add(block)
		d.owned.Add(ino)
		return change.Object{Kind: ondisk.KindXattrOwner, ID: uint64(block), Sub: uint64(ino)}
	}
	if was != 0 && d.Geo.InRange(was) {
		d.txn.Delete(owner(was))
	}
	if is != 0 && d.Geo.InRange(is) { // what is not was reported
		d.txn.Add(owner(is))
		d.newRole[is] = Role{ino, RoleXattr, 0}
	}
	return nil
}

// InodeRecordFields makes the records of an inode's own fields.
func (d *delta) inodeFields(ino uint32) error {
	before, after, err := d.sides(ino)
	if err != nil {
		return err
	}
	value := func(s side) func(change.Field) change.Value {
		if !s.exists() {
			return nil
		}
		return func(f change.Field) change.Value { return d.inodeValue(ino, s.inode, s.marked, f) }
	}
	if err := d.deletionTime(ino, before, after); err != nil {
		return err
	}
	was, is := value(before), value(after)
	if was == nil && is == nil {
		return nil
	}
	var always []change.Field
	if d.named.has(ino) {
		always = append(always, ondisk.FieldLinks)
	}
	if d.owned.has(ino) {
		always = append(always, ondisk.FieldBlocks)
	}
	d.object(change.Object{Kind: ondisk.KindInode, ID: uint64(ino)}, ondisk.InodeRecordFields, was, is, always...)
	group := func(v func(change.Field) change.Value) (g change.Value) {
		if v != nil {
			g = v(ondisk.FieldDirGroup)
		}
		return g
	}
	if group(was) != group(is) {
		d.groups.Add((ino - 1) / d.Geo.InodesPerGroup)
	}
	return nil
}

// deletionTime checks that a deleted inode has a time and not, as those on the list of orphans do, the number of another
// Inode. A clock that begins with 1970 makes such times; e2fsck tells it by the same.
func (d *delta) deletionTime(ino uint32, before, after side) error {
	t := after.inode.Dtime()
	if after.exists() || t == 0 || t >= d.Geo.Inodes || before.inode != nil && before.inode.Dtime() == t || d.isOrphan(ino) {
		return nil
	}
	sb, err := d.new.super()
	if err != nil || ondisk.LE32(sb, ondisk.SuperWriteTime) < d.Geo.Inodes {
		return err
	}
	d.fault(on(checkDeleted.at(d.inodeAddr(ino), "the time is %d, the number of an inode", t), ondisk.KindInode, uint64(ino)))
	return nil
}

// directory compares the entries in the blocks of a directory that changed. Entries are compared by
// name: where in the directory one stands says nothing.
func (d *delta) directory(ino uint32, before, after side, oldBlocks, newBlocks []dirBlock) error {
	names := d.entries
	names.reset()
	bs := d.Geo.BlockSize
	if before.inode != nil {
		visible := before.inode.DirBlocks(bs)
		for _, db := range oldBlocks {
			if db.start >= visible || !before.marked && before.inode.Links() == 0 || !d.Geo.InRange(db.block) {
				continue
			}
			b, err := d.old.Block(db.block)
			if err != nil {
				return err
			}
			ondisk.Entries(b, d.Geo.FileType, func(e ondisk.Dirent) { names.at(e.Name).was = entryValue{e.Ino, e.Type} })
		}
	}
	if after.mapped(ino) != nil && after.inode.ListsNames() {
		if err := d.newEntries(ino, before, after.inode, newBlocks); err != nil {
			return err
		}
	}
	gone, now := names.changed()
	if after.inode != nil && slices.ContainsFunc(now, func(n *nameDiff) bool { return n.was.ino == 0 }) {
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

func (d *delta) newEntries(ino uint32, before side, i ondisk.Inode, blocks []dirBlock) error {
	visible := i.DirBlocks(d.Geo.BlockSize)
	if i.Pointer(0) == 0 {
		d.fault(on(checkDots.at(d.inodeAddr(ino), "the directory has no first block"), ondisk.KindInode, uint64(ino)))
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
		faults := d.checkDir(ino, b, db.block, db.start == 0, func(e ondisk.Dirent) {
			n := d.entries.at(e.Name)
			if n.is.ino != 0 {
				d.fault(on(checkDirentName.at(d.Geo.Addr(db.block)+uint64(e.Off), "%q occurs twice", e.Name), ondisk.KindInode, uint64(ino)))
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

// entryRecords makes the records of one entry; an entryValue of inode 0 is no entry. An entry whose type
// alone changed has a record of its inode as well.
func (d *delta) entryRecords(dir uint32, name []byte, was, is entryValue) {
	value := func(v entryValue) func(change.Field) change.Value {
		if v.ino == 0 {
			return nil
		}
		if d.image == nil && v.ino <= d.Geo.Inodes && was.ino != is.ino {
			d.named.Add(v.ino)
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
