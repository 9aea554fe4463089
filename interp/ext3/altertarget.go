package ext3

import (
	"bytes"
	"fmt"
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
	*layout
	state   *state
	orphans *orphanList
	role    func(block uint32, b []byte) (role, bool)
	use     func(block uint32) string // of a block, as in blockUses
	links   map[uint32]uint32         // which inode's name a block holds; nil: they have not been looked for
}

// blocks calls visit for each object in a block of the file system.
func (s *survey) block(block uint32, b []byte, visit func(target)) error {
	geo := s.geo
	if !geo.inRange(block) {
		return nil // of a group that is to come
	}
	g := geo.groupOf(block)
	p := s.places[g]
	add := func(object string, off, n int, kind string, id uint64) {
		visit(target{object: findAlterable(object), site: site{false, block}, off: off, n: n, kind: kind, id: id})
	}
	if desc, ok := geo.descIndex(block); ok {
		for n := uint32(0); n < geo.perDescBlock() && desc*geo.perDescBlock()+n < geo.groups; n++ {
			add(objGroup, int(n)*descLen, descLen, "", uint64(desc*geo.perDescBlock()+n))
		}
		return nil
	}
	switch {
	case block == geo.superBlock():
		add(objSuper, int(superOff%geo.blockSize), superLen, "", 0)
	case block == p.blockBitmap:
		s.bits(objBlockBitmap, block, geo.groupBlocks(g), uint64(geo.groupStart(g)), visit, s.use)
	case block == p.inodeBitmap:
		s.bits(objInodeBitmap, block, geo.inodesPerGroup, uint64(g*geo.inodesPerGroup)+1, visit, func(ino uint32) string {
			return s.inodeUse(ino, bit(b, (ino-1)%geo.inodesPerGroup))
		})
	case block-p.inodeTable < geo.tableBlocks:
		return s.inodeTable(g, block, b, visit)
	default:
		r, ok := s.role(block, b)
		if !ok {
			return s.linkName(block, visit)
		}
		switch r.level {
		case roleXattr:
			add(objXattr, 0, xattrHeader, "", uint64(r.ino))
			xattrTargets(b, xattrHeader, func(off, n int) { add(objXattrEntry, off, n, "block", uint64(r.ino)) })
		case roleDir:
			return s.directory(r, block, b, visit)
		default:
			kind := []string{"single", "double", "triple"}[r.level-1]
			for off := 0; off < len(b); off += 4 {
				if le32(b, off) != 0 || off+4 == len(b) {
					add(objPointer, off, 4, kind, uint64(r.ino))
				}
			}
		}
	}
	return nil
}

// bits yields a target for each bit of a bitmap, whose first is of the object with the number first.
func (s *survey) bits(object string, block, count uint32, first uint64, visit func(target), use func(uint32) string) {
	for n := range 8 * s.geo.blockSize {
		t := target{object: findAlterable(object), site: site{false, block}, off: int(n / 8), n: 1, bit: n % 8, kind: "padding", id: first + uint64(n)}
		if n < count {
			t.kind = use(uint32(first) + n)
		}
		visit(t)
	}
}

func (s *survey) inodeUse(ino uint32, marked bool) string {
	switch {
	case s.orphans.has(ino):
		return "orphan"
	case !marked:
		return "free"
	case ino < s.geo.firstIno:
		return "reserved"
	}
	return "used"
}

func (s *survey) inodeTable(g, block uint32, b []byte, visit func(target)) error {
	per := s.geo.blockSize / s.geo.inodeSize
	for n := range per {
		at := (block-s.places[g].inodeTable)*per + n
		if at >= s.geo.inodesPerGroup {
			break
		}
		ino, off := g*s.geo.inodesPerGroup+at+1, int(n*s.geo.inodeSize)
		raw := b[off : off+int(s.geo.inodeSize)]
		i := inode(raw[:inodeLen])
		visit(target{object: findAlterable(objInode), site: site{false, block}, off: off, n: len(raw), kind: s.inodeKind(ino, i), id: uint64(ino)})
		if len(raw) > inodeLen && i.links() > 0 {
			extra := int(le16(raw, iExtraSize))
			if head := inodeLen + extra; extra >= minExtraSize && head+xattrBodyHead < len(raw) && le32(raw, head) == xattrMagic {
				xattrTargets(raw, head+xattrBodyHead, func(at, n int) {
					visit(target{object: findAlterable(objXattrEntry), site: site{false, block}, off: off + at, n: n, kind: "inode", id: uint64(ino)})
				})
			}
		}
	}
	return nil
}

func (s *survey) inodeKind(ino uint32, i inode) string {
	switch {
	case ino == rootIno:
		return "root"
	case ino == s.geo.journalInum:
		return "journal"
	case ino == resizeIno:
		return "resize"
	case ino < s.geo.firstIno:
		return "reserved"
	case s.orphans.has(ino):
		return "orphan"
	case i.links() == 0:
		return "free"
	}
	switch i.typ() {
	case modeDir:
		if i.hasIndex() {
			return "indexed"
		}
		return "directory"
	case modeRegular:
		return "file"
	case modeLink:
		if i.fast() {
			return "fast_link"
		}
		return "slow_link"
	case modeFIFO:
		return "fifo"
	case modeSocket:
		return "socket"
	}
	return "device"
}

// linkName yields the name of a symbolic link that a block holds. Linux writes it to the journal from 6.2 on.
func (s *survey) linkName(block uint32, visit func(target)) error {
	if s.links == nil {
		var err error
		if s.links, err = s.linkBlocks(s.state); err != nil {
			return err
		}
	}
	if ino, ok := s.links[block]; ok {
		visit(target{object: findAlterable(objLinkName), site: site{false, block}, n: int(s.geo.blockSize), id: uint64(ino)})
	}
	return nil
}

// linkBlocks returns which inode's name a block holds, of symbolic links with a block of their own.
func (l *layout) linkBlocks(s *state) (map[uint32]uint32, error) {
	links := make(map[uint32]uint32)
	for ino := l.geo.firstIno; ino <= l.geo.inodes; ino++ {
		i, err := l.inode(s, ino)
		if err != nil {
			return nil, err
		}
		if block := i.pointer(0); i.typ() == modeLink && i.links() > 0 && !i.fast() && l.geo.inRange(block) {
			links[block] = ino
		}
	}
	return links, nil
}

// xattrTargets yields the entries of a list of extended attributes.
func xattrTargets(b []byte, off int, visit func(off, n int)) {
	for off+xattrEntryLen <= len(b) && le32(b, off) != 0 {
		n := xattrEntryLen + (int(b[off])+3)&^3
		if off+n > len(b) {
			return
		}
		visit(off, n)
		off += n
	}
}

// directory yields the entries of a block of a directory, and what it has of the index.
func (s *survey) directory(r role, block uint32, b []byte, visit func(target)) error {
	add := func(object string, off, n int, kind string) {
		visit(target{object: findAlterable(object), site: site{false, block}, off: off, n: n, kind: kind, id: uint64(r.ino), ino: le32(b, min(off, len(b)-4))})
	}
	var i inode
	if r.ino != 0 {
		var err error
		if i, err = s.inode(s.state, r.ino); err != nil {
			return err
		}
	}
	indexed := i != nil && i.hasIndex()
	if indexed {
		index := &indexReader{layout: s.layout, state: s.state, dir: r.ino, inode: i}
		if err := index.read(); err != nil {
			return err
		}
		entriesOf := func(at int, kind string) {
			for n := range int(le16(b, at+2)) {
				if off := at + n*dxEntryLen; off+dxEntryLen <= len(b) {
					add(objIndexEntry, off, dxEntryLen, kind)
				}
			}
		}
		switch {
		case r.start == 0:
			add(objIndex, dxRootInfo, dxInfoLen+4, "root")
			entriesOf(dxRootEntries, "root")
		case index.nodes[r.start]:
			// Where a root has its info, a node has the entry that covers it: its limit and count stand at the same distance.
			add(objIndex, dxNodeEntries-dxInfoLen, dxInfoLen+4, "node")
			entriesOf(dxNodeEntries, "node")
			return nil
		}
	}
	for off, n := 0, 0; off+dirHeaderLen <= len(b); n++ {
		length := recLen(b, off)
		if length < dirHeaderLen || off+length > len(b) {
			break
		}
		kind := "linear"
		switch {
		case le32(b, off) == 0:
			kind = "unused"
		case r.start == 0 && n == 0:
			kind = "dot"
		case r.start == 0 && n == 1:
			kind = "dotdot"
		case r.ino == rootIno:
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
		case typeDescriptor:
			add(objDescriptor, 0, journalHeader)
			for _, t := range l.tags {
				add(objTag, t.off, 8)
			}
		case typeRevoke:
			add(objRevoke, 0, revokeHeader)
			for off := revokeHeader; off+l.width <= l.used; off += l.width {
				add(objRevoked, off+l.width-4, 4)
			}
		case typeCommit:
			add(objCommit, 0, 60)
		}
	}
}

// usesOf tells what each block of a state is used for.
func (l *layout) usesOf(s *state, r roles) (func(uint32) string, error) {
	owner := make(map[uint32]string)
	for block, role := range r {
		switch role.level {
		case roleXattr:
			owner[block] = "xattr"
		case roleDir:
			owner[block] = "directory"
		default:
			owner[block] = "indirect"
		}
	}
	for _, special := range []struct {
		ino uint32
		use string
	}{{l.geo.journalInum, "journal"}, {resizeIno, "resize"}} {
		if special.ino == 0 {
			continue
		}
		i, err := l.inode(s, special.ino)
		if err != nil {
			return nil, err
		}
		d := treeDiff{layout: l, new: s, visited: &visits{}}
		d.added = func(level int, _ uint64, block uint32) (bool, error) {
			owner[block] = special.use
			return level > 0 && l.geo.inRange(block) && d.visited.new.add(block), nil
		}
		if i.maps(true) {
			if err := d.inodes(nil, i); err != nil {
				return nil, err
			}
		}
	}
	marks := make([][]byte, l.geo.groups)
	for g := range marks {
		b, err := s.block(l.places[g].blockBitmap)
		if err != nil {
			return nil, err
		}
		marks[g] = bytes.Clone(b)
	}
	return func(block uint32) string {
		g := l.geo.groupOf(block)
		at, p := block-l.geo.groupStart(g), l.places[g]
		switch {
		case l.fixedMeta(block):
			switch {
			case block == p.blockBitmap || block == p.inodeBitmap:
				return "bitmap"
			case block-p.inodeTable < l.geo.tableBlocks:
				return "inode_table"
			case at == 0 && l.geo.hasSuper(g):
				return "superblock"
			}
			return "descriptors"
		case owner[block] != "":
			return owner[block]
		case bit(marks[g], at):
			return "data"
		}
		return "free"
	}, nil
}
