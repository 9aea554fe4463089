package corrupt

import (
	"bytes"
	"fmt"

	"fsward/interp/ext3"
	"fsward/interp/ext3/ondisk"
)

// A site is a block that can be altered: one of the file system, wherever its contents are, or one of the log itself.
type site struct {
	log   bool
	block uint32 // of the file system; of the journal
}

// A target is one object in a site.
type target struct {
	object *alterable
	site   site
	off, n int // where it is, bytes
	bit    uint32
	kind   string
	id     uint64
	ino    uint32 // of a dirent, the inode that it names
}

// name names a target for people.
func (t *target) name() string {
	switch t.object.name {
	case objSuper, objJournal:
		return t.object.name
	case objGroup, objInode:
		return fmt.Sprintf("%s %d", t.object.name, t.id)
	case objBlockBitmap, objInodeBitmap:
		return fmt.Sprintf("%s: bit of %d (%s)", t.object.name, t.id, t.kind)
	}
	if t.site.log {
		return fmt.Sprintf("%s at byte %d of block %d of the journal", t.object.name, t.off, t.site.block)
	}
	return fmt.Sprintf("%s of %d at byte %d of block %d", t.object.name, t.id, t.off, t.site.block)
}

// A survey finds the objects in the blocks of a state.
type survey struct {
	*ext3.Layout
	state   *ext3.State
	orphans *ext3.OrphanList
	role    func(block uint32, b []byte) (ext3.Role, bool)
	use     func(block uint32) string // of a block, as in blockUses
	links   map[uint32]uint32         // which inode's name a block holds; nil: they have not been looked for
}

// blocks calls visit for each object in a block of the file system.
func (s *survey) block(block uint32, b []byte, visit func(target)) error {
	geo := s.Geo
	if !geo.InRange(block) {
		return nil // of a group that is to come
	}
	g := geo.GroupOf(block)
	p := s.Places[g]
	add := func(object string, off, n int, kind string, id uint64) {
		visit(target{object: findAlterable(object), site: site{false, block}, off: off, n: n, kind: kind, id: id})
	}
	if desc, ok := geo.DescIndex(block); ok {
		for n := uint32(0); n < geo.PerDescBlock() && desc*geo.PerDescBlock()+n < geo.Groups; n++ {
			add(objGroup, int(n)*ondisk.DescLen, ondisk.DescLen, "", uint64(desc*geo.PerDescBlock()+n))
		}
		return nil
	}
	switch {
	case block == geo.SuperBlock():
		add(objSuper, int(ondisk.SuperOff%geo.BlockSize), ondisk.SuperLen, "", 0)
	case block == p.BlockBitmap:
		s.bits(objBlockBitmap, block, geo.GroupBlocks(g), uint64(geo.GroupStart(g)), visit, s.use)
	case block == p.InodeBitmap:
		s.bits(objInodeBitmap, block, geo.InodesPerGroup, uint64(g*geo.InodesPerGroup)+1, visit, func(ino uint32) string {
			return s.inodeUse(ino, ondisk.Bit(b, (ino-1)%geo.InodesPerGroup))
		})
	case block-p.InodeTable < geo.TableBlocks:
		return s.inodeTable(g, block, b, visit)
	default:
		r, ok := s.role(block, b)
		if !ok {
			return s.linkName(block, visit)
		}
		switch r.Level {
		case ext3.RoleXattr:
			add(objXattr, 0, ondisk.XattrHeader, "", uint64(r.Ino))
			xattrTargets(b, ondisk.XattrHeader, func(off, n int) { add(objXattrEntry, off, n, "block", uint64(r.Ino)) })
		case ext3.RoleDir:
			return s.directory(r, block, b, visit)
		default:
			kind := []string{"single", "double", "triple"}[r.Level-1]
			for off := 0; off < len(b); off += 4 {
				if ondisk.LE32(b, off) != 0 || off+4 == len(b) {
					add(objPointer, off, 4, kind, uint64(r.Ino))
				}
			}
		}
	}
	return nil
}

// bits yields a target for each bit of a bitmap, whose first is of the object with the number first.
func (s *survey) bits(object string, block, count uint32, first uint64, visit func(target), use func(uint32) string) {
	for n := range 8 * s.Geo.BlockSize {
		t := target{object: findAlterable(object), site: site{false, block}, off: int(n / 8), n: 1, bit: n % 8, kind: "padding", id: first + uint64(n)}
		if n < count {
			t.kind = use(uint32(first) + n)
		}
		visit(t)
	}
}

func (s *survey) inodeUse(ino uint32, marked bool) string {
	switch {
	case s.orphans.Has(ino):
		return "orphan"
	case !marked:
		return "free"
	case ino < s.Geo.FirstIno:
		return "reserved"
	}
	return "used"
}

func (s *survey) inodeTable(g, block uint32, b []byte, visit func(target)) error {
	per := s.Geo.BlockSize / s.Geo.InodeSize
	for n := range per {
		at := (block-s.Places[g].InodeTable)*per + n
		if at >= s.Geo.InodesPerGroup {
			break
		}
		ino, off := g*s.Geo.InodesPerGroup+at+1, int(n*s.Geo.InodeSize)
		raw := b[off : off+int(s.Geo.InodeSize)]
		i := ondisk.Inode(raw[:ondisk.InodeLen])
		visit(target{object: findAlterable(objInode), site: site{false, block}, off: off, n: len(raw), kind: s.inodeKind(ino, i), id: uint64(ino)})
		if len(raw) > ondisk.InodeLen && i.Links() > 0 {
			extra := int(ondisk.LE16(raw, ondisk.InodeExtraSize))
			if head := ondisk.InodeLen + extra; extra >= ondisk.MinExtraSize && head+ondisk.XattrBodyHead < len(raw) && ondisk.LE32(raw, head) == ondisk.XattrMagic {
				xattrTargets(raw, head+ondisk.XattrBodyHead, func(at, n int) {
					visit(target{object: findAlterable(objXattrEntry), site: site{false, block}, off: off + at, n: n, kind: "inode", id: uint64(ino)})
				})
			}
		}
	}
	return nil
}

func (s *survey) inodeKind(ino uint32, i ondisk.Inode) string {
	switch {
	case ino == ondisk.RootIno:
		return "root"
	case ino == s.Geo.JournalInum:
		return "journal"
	case ino == ondisk.ResizeIno:
		return "resize"
	case ino < s.Geo.FirstIno:
		return "reserved"
	case s.orphans.Has(ino):
		return "orphan"
	case i.Links() == 0:
		return "free"
	}
	switch i.Type() {
	case ondisk.ModeDir:
		if i.HasIndex() {
			return "indexed"
		}
		return "directory"
	case ondisk.ModeRegular:
		return "file"
	case ondisk.ModeLink:
		if i.Fast() {
			return "fast_link"
		}
		return "slow_link"
	case ondisk.ModeFIFO:
		return "fifo"
	case ondisk.ModeSocket:
		return "socket"
	}
	return "device"
}

// linkName yields the name of a symbolic link that a block holds. Linux writes it to the journal from 6.2 on.
func (s *survey) linkName(block uint32, visit func(target)) error {
	if s.links == nil {
		var err error
		if s.links, err = linkBlocks(s.Layout, s.state); err != nil {
			return err
		}
	}
	if ino, ok := s.links[block]; ok {
		visit(target{object: findAlterable(objLinkName), site: site{false, block}, n: int(s.Geo.BlockSize), id: uint64(ino)})
	}
	return nil
}

// linkBlocks returns which inode's name a block holds, of symbolic links with a block of their own.
func linkBlocks(l *ext3.Layout, s *ext3.State) (map[uint32]uint32, error) {
	links := make(map[uint32]uint32)
	for ino := l.Geo.FirstIno; ino <= l.Geo.Inodes; ino++ {
		i, err := l.Inode(s, ino)
		if err != nil {
			return nil, err
		}
		if block := i.Pointer(0); i.Type() == ondisk.ModeLink && i.Links() > 0 && !i.Fast() && l.Geo.InRange(block) {
			links[block] = ino
		}
	}
	return links, nil
}

// xattrTargets yields the entries of a list of extended attributes.
func xattrTargets(b []byte, off int, visit func(off, n int)) {
	for off+ondisk.XattrEntryLen <= len(b) && ondisk.LE32(b, off) != 0 {
		n := ondisk.XattrEntryLen + (int(b[off])+3)&^3
		if off+n > len(b) {
			return
		}
		visit(off, n)
		off += n
	}
}

// directory yields the entries of a block of a directory, and what it has of the index.
func (s *survey) directory(r ext3.Role, block uint32, b []byte, visit func(target)) error {
	add := func(object string, off, n int, kind string) {
		visit(target{object: findAlterable(object), site: site{false, block}, off: off, n: n, kind: kind, id: uint64(r.Ino), ino: ondisk.LE32(b, min(off, len(b)-4))})
	}
	var i ondisk.Inode
	if r.Ino != 0 {
		var err error
		if i, err = s.Inode(s.state, r.Ino); err != nil {
			return err
		}
	}
	indexed := i != nil && i.HasIndex()
	if indexed {
		index := &ext3.IndexReader{Layout: s.Layout, State: s.state, Dir: r.Ino, Inode: i}
		if err := index.Read(); err != nil {
			return err
		}
		entriesOf := func(at int, kind string) {
			for n := range int(ondisk.LE16(b, at+2)) {
				if off := at + n*ondisk.IndexEntryLen; off+ondisk.IndexEntryLen <= len(b) {
					add(objIndexEntry, off, ondisk.IndexEntryLen, kind)
				}
			}
		}
		switch {
		case r.Start == 0:
			add(objIndex, ondisk.IndexRootInfo, ondisk.IndexInfoLen+4, "root")
			entriesOf(ondisk.IndexRootEntries, "root")
		case index.Nodes[r.Start]:
			// Where a root has its info, a node has the entry that covers it: its limit and count stand at the same distance.
			add(objIndex, ondisk.IndexNodeEntries-ondisk.IndexInfoLen, ondisk.IndexInfoLen+4, "node")
			entriesOf(ondisk.IndexNodeEntries, "node")
			return nil
		}
	}
	for off, n := 0, 0; off+ondisk.DirHeaderLen <= len(b); n++ {
		length := ondisk.RecLen(b, off)
		if length < ondisk.DirHeaderLen || off+length > len(b) {
			break
		}
		kind := "linear"
		switch {
		case ondisk.LE32(b, off) == 0:
			kind = "unused"
		case r.Start == 0 && n == 0:
			kind = "dot"
		case r.Start == 0 && n == 1:
			kind = "dotdot"
		case r.Ino == ondisk.RootIno:
			kind = "root"
		case indexed:
			kind = "indexed"
		}
		add(objDirent, off, length, kind)
		off += length
	}
	return nil
}

// logTargets yields the objects of the log in a transaction.
func logTargets(log []logBlock, visit func(target)) {
	for _, l := range log {
		add := func(object string, off, n int) {
			visit(target{object: findAlterable(object), site: site{true, l.at}, off: off, n: n})
		}
		switch l.kind {
		case ondisk.TypeDescriptor:
			add(objDescriptor, 0, ondisk.JournalHeader)
			for _, t := range l.tags {
				add(objTag, t.off, 8)
			}
		case ondisk.TypeRevoke:
			add(objRevoke, 0, ondisk.RevokeHeader)
			for off := ondisk.RevokeHeader; off+l.width <= l.used; off += l.width {
				add(objRevoked, off+l.width-4, 4)
			}
		case ondisk.TypeCommit:
			add(objCommit, 0, 60)
		}
	}
}

// usesOf tells what each block of a state is used for.
func usesOf(l *ext3.Layout, s *ext3.State, r ext3.Roles) (func(uint32) string, error) {
	owner := make(map[uint32]string)
	for block, role := range r {
		switch role.Level {
		case ext3.RoleXattr:
			owner[block] = "xattr"
		case ext3.RoleDir:
			owner[block] = "directory"
		default:
			owner[block] = "indirect"
		}
	}
	for _, special := range []struct {
		ino uint32
		use string
	}{{l.Geo.JournalInum, "journal"}, {ondisk.ResizeIno, "resize"}} {
		if special.ino == 0 {
			continue
		}
		i, err := l.Inode(s, special.ino)
		if err != nil {
			return nil, err
		}
		d := ext3.TreeDiff{Layout: l, New: s, Visited: &ext3.Visits{}}
		d.Added = func(level int, _ uint64, block uint32) (bool, error) {
			owner[block] = special.use
			return level > 0 && l.Geo.InRange(block) && d.Visited.New.Add(block), nil
		}
		if i.Maps(true) {
			if err := d.Inodes(nil, i); err != nil {
				return nil, err
			}
		}
	}
	marks := make([][]byte, l.Geo.Groups)
	for g := range marks {
		b, err := s.Block(l.Places[g].BlockBitmap)
		if err != nil {
			return nil, err
		}
		marks[g] = bytes.Clone(b)
	}
	return func(block uint32) string {
		g := l.Geo.GroupOf(block)
		at, p := block-l.Geo.GroupStart(g), l.Places[g]
		switch {
		case l.FixedMeta(block):
			switch {
			case block == p.BlockBitmap || block == p.InodeBitmap:
				return "bitmap"
			case block-p.InodeTable < l.Geo.TableBlocks:
				return "inode_table"
			case at == 0 && l.Geo.HasSuper(g):
				return "superblock"
			}
			return "descriptors"
		case owner[block] != "":
			return owner[block]
		case ondisk.Bit(marks[g], at):
			return "data"
		}
		return "free"
	}, nil
}
