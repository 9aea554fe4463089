package ext3

import (
	"bytes"
	"fsward/change"
	"fsward/interp/ext3/ondisk"
)

// An inodeDiff compares inodes: their fields, their block pointers, and the extended attribute
// blocks that they name.
type inodeDiff struct {
	*compared
	dirs    dirDiff
	visited *Visits
	newRole map[uint32]Role // roles that the transaction gives
	noRole  map[uint32]Role // and takes
	// dirBlocks and indirect hold the rewritten blocks of an inode. The pointers to such a block may
	// be unchanged.
	dirBlocks map[uint32][]dirBlock
	indirect  map[uint32][]indirectBlock
	data      []dataRun // blocks of files that become reachable
}

func newInodeDiff(c *compared) inodeDiff {
	return inodeDiff{compared: c, dirs: dirDiff{compared: c, names: newNameTable()},
		visited: &Visits{},
		newRole: make(map[uint32]Role),
		noRole:  make(map[uint32]Role), dirBlocks: make(map[uint32][]dirBlock),
		indirect: make(map[uint32][]indirectBlock)}
}

// bytes returns the memory of the comparison that grows with the transaction.
func (d *inodeDiff) bytes() uint64 {
	return uint64(len(d.newRole)+len(d.noRole))*changedRoleBytes + uint64(cap(d.data))*dataRunBytes +
		d.dirs.names.bytes()
}

// rewroteRole notes that the transaction rewrote a directory block or an indirect block of an
// inode.
func (d *inodeDiff) rewroteRole(block uint32, r Role) {
	if r.Level == RoleDir {
		d.dirBlocks[r.Ino] = append(d.dirBlocks[r.Ino], dirBlock{uint64(r.Start), block})
		return
	}
	d.indirect[r.Ino] = append(d.indirect[r.Ino], indirectBlock{int(r.Level), uint64(r.Start), block})
}

// An indirectBlock is an indirect block that the transaction rewrote in its place.
type indirectBlock struct {
	level int
	start uint64
	block uint32
}

// A dirBlock is a block of a directory that the transaction rewrote.
type dirBlock struct {
	start uint64
	block uint32
}

// compareTree compares the blocks of an inode, its extended attribute block, and the entries of a
// directory.
func (d *inodeDiff) compareTree(ino uint32) error {
	before, after, err := d.sides(ino)
	if err != nil {
		return err
	}
	if !d.sound(ino, before, after) {
		return nil
	}
	if err := d.slowLink(ino, after); err != nil {
		return err
	}
	if err := d.xattrPointer(ino, before, after); err != nil {
		return err
	}

	t := &pointerDiff{inodeDiff: d, ino: ino, was: before.mapped(ino), is: after.mapped(ino)}
	if err := t.compare(); err != nil {
		return err
	}
	switch {
	case t.isDir() && d.image != nil:
		return d.image.directory(ino, after, t.newBlocks)
	case t.isDir() || t.wasDir():
		return d.dirs.compare(ino, before, after, t.oldBlocks, t.newBlocks)
	}
	return nil
}

// sound checks an inode by itself, and reports whether its pointers can be followed.
func (d *inodeDiff) sound(ino uint32, before, after side) bool {
	faults := d.checkInode(ino, after.inode, after.marked)
	for _, v := range faults {
		d.fault(v)
	}
	if len(faults) > 0 {
		return false
	}
	if i := after.inode; !after.exists() && ino >= d.Geo.FirstIno && undated(i) &&
		(before.inode == nil || before.exists() || !undated(before.inode)) {
		d.fault(on(checkDeleted.at(d.inodeAddr(ino), "the mode is %#o and there is no time", i.Mode()),
			ondisk.KindInode, uint64(ino)))
	}
	return true
}

// slowLink checks a symbolic link with a block of its own that the transaction writes. Before 6.2,
// Linux did not journal this block: with the default mount options it writes the block to its place
// before the commit, and with data=writeback it does not wait for that write.
func (d *inodeDiff) slowLink(ino uint32, after side) error {
	i := after.mapped(ino)
	if i == nil || i.Type() != ondisk.ModeLink || i.Links() == 0 || !d.Geo.InRange(i.Pointer(0)) ||
		!d.leap && !d.rewrote(i.Pointer(0)) {
		return nil
	}
	b, err := d.new.Block(i.Pointer(0))
	if err != nil {
		return err
	}
	if n := bytes.IndexByte(b, 0); uint64(n) != i.Size() {
		d.fault(on(checkSymlink.at(d.Geo.Addr(i.Pointer(0)), "size is %d, the name ends after %d bytes",
			i.Size(), n), ondisk.KindInode, uint64(ino)))
	}
	return nil
}

// xattrPointer compares which extended attribute block an inode names.
func (d *inodeDiff) xattrPointer(ino uint32, before, after side) error {
	was, is := before.acl(), after.acl()
	if was == is {
		return nil
	}
	if d.image != nil {
		return d.image.claimXattr(is, ino)
	}
	s := xattrChange{ino: ino}
	if was != 0 && d.Geo.InRange(was) {
		s.was = was
	}
	if is != 0 && d.Geo.InRange(is) { // a block out of range has been reported
		s.is = is
		d.newRole[is] = Role{ino, RoleXattr, 0}
	}
	for _, block := range []uint32{s.was, s.is} {
		if block != 0 {
			d.todo.xattrs.add(block)
			d.todo.owned.add(ino)
			d.blocks.xattr = append(d.blocks.xattr, block)
		}
	}
	d.xattrChanges = append(d.xattrChanges, s)
	d.xattrRecords(s)
	return nil
}

// compareFields makes the records of an inode's own fields.
func (d *inodeDiff) compareFields(ino uint32) error {
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
	var always []change.Field // in an image, every field has a record
	if d.image == nil && d.todo.named.has(ino) {
		always = append(always, ondisk.FieldLinks)
	}
	if d.image == nil && d.todo.owned.has(ino) {
		always = append(always, ondisk.FieldBlocks)
	}
	d.object(change.Object{Kind: ondisk.KindInode, ID: uint64(ino)}, ondisk.InodeRecordFields, was, is,
		always...)
	group := func(v func(change.Field) change.Value) (g change.Value) {
		if v != nil {
			g = v(ondisk.FieldDirGroup)
		}
		return g
	}
	if group(was) != group(is) {
		d.todo.groups.add((ino - 1) / d.Geo.InodesPerGroup)
	}
	return nil
}

// deletionTime checks that the dtime of a deleted inode is a time, and not the number of another
// inode as on the list of orphans. e2fsck uses the same test (e2fsck_pass1, low_dtime_check).
func (d *inodeDiff) deletionTime(ino uint32, before, after side) error {
	t := after.inode.Dtime()
	if after.exists() || t == 0 || t >= d.Geo.Inodes || before.inode != nil &&
		before.inode.Dtime() == t || d.isOrphan(ino) {
		return nil
	}
	sb, err := d.new.super()
	if err != nil || startsIn1970(ondisk.SuperOf(sb), d.Geo.Inodes) {
		return err
	}
	d.fault(on(checkDeleted.at(d.inodeAddr(ino), "the time is %d, the number of an inode", t),
		ondisk.KindInode, uint64(ino)))
	return nil
}

// startsIn1970 reports whether a time of the superblock could be the number of an inode. Such a
// system has a clock that starts in 1970, and may have set it since the superblock was written: its
// files were deleted at times that look like numbers, too.
func startsIn1970(sb ondisk.Super, inodes uint32) bool {
	return sb.Wtime() < inodes || sb.Mtime() != 0 && sb.Mtime() < inodes ||
		sb.MkfsTime() != 0 && sb.MkfsTime() < inodes
}

// undated reports whether a deleted inode still has fields of an inode in use, and no time of
// deletion.
func undated(i ondisk.Inode) bool { return i.Mode() != 0 && i.Dtime() == 0 }

// showsData notes a block of a file that becomes reachable through a name after a crash, unless its
// data is in the log.
func (d *inodeDiff) showsData(ino uint32, i ondisk.Inode, start uint64, block uint32) {
	if d.image != nil || ino < d.Geo.FirstIno || i.Links() == 0 || i.IsDir() ||
		start*uint64(d.Geo.BlockSize) >= i.Size() {
		return
	}
	if _, logged := d.new.over[block]; logged {
		return
	}
	d.data = addData(d.data, dataRun{block, 1, ino, uint32(start)})
}
