package corrupt

import (
	"fsward/interp/ext3"
	"fsward/interp/ext3/ondisk"
)

// A survey finds the objects in the blocks of a state.
type survey struct {
	ext3.Snapshot
	orphans *ext3.OrphanList
	role    func(block uint32, b []byte) (ext3.Role, bool)
	use     func(block uint32) string // returns the use of a block, one of blockUses
	// blocks that hold the name of a symbolic link, and its inode; nil: not read yet
	links map[uint32]uint32
}

// block calls visit for each object in a block of the file system.
func (s *survey) block(block uint32, b []byte, visit func(target)) error {
	geo := s.Geo
	if !geo.InRange(block) {
		return nil // of a group that does not exist yet
	}
	g := geo.GroupOf(block)
	p := s.Places[g]
	add := func(object string, off, n int, kind string, id uint64) {
		visit(target{object: findAlterable(object), site: site{false, block}, off: off, n: n, kind: kind,
			id: id})
	}
	if desc, ok := geo.DescIndex(block); ok {
		for n := uint32(0); n < geo.PerDescBlock() && desc*geo.PerDescBlock()+n < geo.Groups; n++ {
			add(objGroup, int(n)*ondisk.GroupDescLen, ondisk.GroupDescLen, "",
				uint64(desc*geo.PerDescBlock()+n))
		}
		return nil
	}
	switch {
	case block == geo.SuperBlock():
		add(objSuper, int(ondisk.SuperOff%geo.BlockSize), ondisk.SuperLen, "", 0)
	case block == p.BlockBitmap:
		s.bits(objBlockBitmap, block, geo.GroupBlocks(g), uint64(geo.GroupStart(g)), visit, s.use)
	case block == p.InodeBitmap:
		s.bits(objInodeBitmap, block, geo.InodesPerGroup, uint64(g*geo.InodesPerGroup)+1, visit,
			func(ino uint32) string {
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
			add(objXattr, 0, ondisk.XattrHeadLen, "", uint64(r.Ino))
			xattrTargets(b, ondisk.XattrHeadLen, func(off, n int) {
				add(objXattrEntry, off, n, "block",
					uint64(r.Ino))
			})
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

// bits visits each bit of a bitmap. first is the number of the object of the first bit.
func (s *survey) bits(object string, block, count uint32, first uint64, visit func(target),
	use func(uint32) string) {
	for n := range 8 * s.Geo.BlockSize {
		t := target{object: findAlterable(object), site: site{false, block}, off: int(n / 8), n: 1,
			bit: n % 8, kind: "padding", id: first + uint64(n)}
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
		visit(target{object: findAlterable(objInode), site: site{false, block}, off: off, n: len(raw),
			kind: s.inodeKind(ino, i), id: uint64(ino)})
		if len(raw) > ondisk.InodeLen && i.Links() > 0 {
			extra := int(ondisk.InodeLargeOf(raw).ExtraIsize())
			if head := ondisk.InodeLen + extra; extra >= ondisk.MinExtraSize &&
				head+ondisk.XattrBodyHead < len(raw) && ondisk.LE32(raw, head) == ondisk.XattrMagic {
				xattrTargets(raw, head+ondisk.XattrBodyHead, func(at, n int) {
					visit(target{object: findAlterable(objXattrEntry), site: site{false, block}, off: off + at,
						n: n, kind: "inode", id: uint64(ino)})
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

// linkName visits the name of a symbolic link that a block holds. Linux journals such blocks from
// 6.2 on.
func (s *survey) linkName(block uint32, visit func(target)) error {
	if s.links == nil {
		var err error
		if s.links, err = linkBlocks(s.Snapshot); err != nil {
			return err
		}
	}
	if ino, ok := s.links[block]; ok {
		visit(target{object: findAlterable(objLinkName), site: site{false, block},
			n: int(s.Geo.BlockSize), id: uint64(ino)})
	}
	return nil
}

// linkBlocks returns the blocks that hold the name of a symbolic link, and its inode.
func linkBlocks(s ext3.Snapshot) (map[uint32]uint32, error) {
	links := make(map[uint32]uint32)
	for ino := s.Geo.FirstIno; ino <= s.Geo.Inodes; ino++ {
		i, err := s.Inode(ino)
		if err != nil {
			return nil, err
		}
		if block := i.Pointer(0); i.Type() == ondisk.ModeLink && i.Links() > 0 && !i.Fast() &&
			s.Geo.InRange(block) {
			links[block] = ino
		}
	}
	return links, nil
}

// xattrTargets visits the entries of a list of extended attributes.
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
