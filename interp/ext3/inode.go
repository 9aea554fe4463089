package ext3

import (
	"bytes"
	"fmt"

	"fsward/change"
)

// An inode is the first 128 bytes of an inode on disk, or nil.
type inode []byte

// The file types in i_mode.
const (
	modeFIFO    = 0x1000
	modeChar    = 0x2000
	modeDir     = 0x4000
	modeBlock   = 0x6000
	modeRegular = 0x8000
	modeLink    = 0xa000
	modeSocket  = 0xc000
	modeType    = 0xf000
)

// Flags in i_flags.
const (
	flagImmutable = 0x10
	flagAppend    = 0x20
	flagIndex     = 0x1000
	flagJournal   = 0x4000
	flagExtents   = 0x80000
	flagEAInode   = 0x200000
	flagInline    = 0x10000000

	flagsForeign = flagExtents | flagEAInode | flagInline | 0x800 | 0x40000 | 0x100000 | 0x40000000 // encrypt, huge_file, verity, casefold
	flagsNamed   = flagImmutable | flagAppend | flagIndex | flagJournal
)

const (
	rootIno    = 2
	badIno     = 1
	resizeIno  = 7
	fastLink   = nPointers * 4
	entryTypes = 8 // directory entries know the types 0 to 7
)

func (i inode) mode() uint16            { return le16(i, iMode) }
func (i inode) typ() uint16             { return i.mode() & modeType }
func (i inode) links() uint16           { return le16(i, iLinks) }
func (i inode) flags() uint32           { return le32(i, iFlags) }
func (i inode) fileACL() uint32         { return le32(i, iFileACL) }
func (i inode) dtime() uint32           { return le32(i, iDtime) }
func (i inode) pointer(n int) uint32    { return le32(i, iBlock+4*n) }
func (i inode) uid() uint64             { return uint64(le16(i, iUID)) | uint64(le16(i, iUIDHigh))<<16 }
func (i inode) gid() uint64             { return uint64(le16(i, iGID)) | uint64(le16(i, iGIDHigh))<<16 }
func (i inode) isDir() bool             { return i.typ() == modeDir }
func (i inode) exists(marked bool) bool { return i.links() > 0 || marked && i.mode() != 0 }
func (i inode) listsNames() bool        { return i.isDir() && i.links() > 0 }
func (i inode) hasIndex() bool          { return i.flags()&flagIndex != 0 }

// holdsSomething tells whether an inode that is not in use has contents, or what e2fsck takes for such: it looks at reserved inodes
// even then (e2fsck/pass1.c, check_blocks). The time of its deletion is there where e2fsck has cleared it.
func (i inode) holdsSomething() bool {
	return le32(i, iSize)|le32(i, iSizeHigh)|le32(i, iBlocks)|i.flags()|i.fileACL() != 0 || i.pointers() != [nPointers]uint32{}
}

func (i inode) pointers() (p [nPointers]uint32) {
	for n := range p {
		p[n] = i.pointer(n)
	}
	return p
}

func (i inode) size() (bytes uint64) {
	bytes = uint64(le32(i, iSize))
	if i.typ() == modeRegular { // elsewhere the upper half is i_dir_acl
		bytes |= uint64(le32(i, iSizeHigh)) << 32
	}
	return bytes
}

// fast tells whether a symbolic link is kept in the inode itself, in the place of its pointers.
func (i inode) fast() bool { return i.typ() == modeLink && i.size() > 0 && i.size() < fastLink }

// maps tells whether the pointers of the inode are pointers: an inode that is neither linked nor marked
// as used owns nothing, and a device keeps its number in their place.
func (i inode) maps(marked bool) bool {
	if !i.exists(marked) {
		return false
	}
	switch i.typ() {
	case modeRegular, modeDir:
		return true
	case modeLink:
		return !i.fast()
	}
	return false
}

// dirBlocks is the number of blocks in which a directory keeps entries: none once it has no links.
func (i inode) dirBlocks(blockSize uint32) uint64 {
	if !i.listsNames() {
		return 0
	}
	return i.size() / uint64(blockSize)
}

// entryType is the type that directory entries give to a mode (EXT2_FT_*), 0 for a mode of no type.
func entryType(mode uint16) uint8 {
	switch mode & modeType {
	case modeRegular:
		return 1
	case modeDir:
		return 2
	case modeChar:
		return 3
	case modeBlock:
		return 4
	case modeFIFO:
		return 5
	case modeSocket:
		return 6
	case modeLink:
		return 7
	}
	return 0
}

func typeWord(entryType uint8) change.Value {
	return change.WordValue(wordType + change.WordID(entryType))
}

// inodeValue returns a field of an inode that exists; Null for a field that it does not have.
func (l *layout) inodeValue(ino uint32, i inode, marked bool, f change.Field) change.Value {
	flag := func(mask uint32) change.Value { return change.Bit(i.flags()&mask != 0) }
	switch f {
	case fieldType:
		return typeWord(entryType(i.mode()))
	case fieldPerm:
		return change.Num(uint64(i.mode() &^ modeType))
	case fieldUID:
		return change.Num(i.uid())
	case fieldGID:
		return change.Num(i.gid())
	case fieldSize:
		return change.Num(i.size())
	case fieldLinks:
		return change.Num(uint64(i.links()))
	case fieldBlocks:
		return change.Num(uint64(le32(i, iBlocks)))
	case fieldFlagImmutable:
		return flag(flagImmutable)
	case fieldFlagAppend:
		return flag(flagAppend)
	case fieldFlagIndex:
		return flag(flagIndex)
	case fieldFlagJournal:
		return flag(flagJournal)
	case fieldFlagOther:
		return change.Num(uint64(i.flags() &^ flagsNamed))
	case fieldFileACL:
		return change.Num(uint64(i.fileACL()))
	case fieldGeneration:
		return change.Num(uint64(le32(i, iGeneration)))
	case fieldDtime:
		return change.Num(uint64(i.dtime()))
	case fieldFaddr:
		return change.Num(uint64(le32(i, iFaddr)))
	case fieldBlocksHigh:
		return change.Num(uint64(le16(i, iBlocksHigh)))
	case fieldFileACLHigh:
		return change.Num(uint64(le16(i, iFileACLHigh)))
	case fieldSizeHigh:
		if i.typ() != modeRegular {
			return change.Num(uint64(le32(i, iSizeHigh)))
		}
	case fieldDirGroup:
		if marked && i.isDir() {
			return change.Num(uint64((ino - 1) / l.geo.inodesPerGroup))
		}
	}
	return change.Value{}
}

// checkInode checks an inode that is in use by itself, without following its pointers.
func (l *layout) checkInode(ino uint32, i inode, marked bool) (faults []change.Violation) {
	fault := func(c check, format string, args ...any) {
		faults = append(faults, on(c.at(l.inodeAddr(ino), format, args...), kindInode, uint64(ino)))
	}
	reserved := ino < l.geo.firstIno && ino != rootIno
	switch {
	case ino == badIno && (i.mode() != 0 || i.uid()|i.gid() != 0 || i.links() != 0 || i.flags() != 0 || i.fileACL() != 0 || i.dtime() != 0):
		fault(checkReserved, "the inode of bad blocks has mode %#o, user %d, group %d, %d links, flags %#x, file_acl %d, dtime %d",
			i.mode(), i.uid(), i.gid(), i.links(), i.flags(), i.fileACL(), i.dtime())
	case reserved && ino != badIno && !i.exists(marked) && i.holdsSomething():
		fault(checkReserved, "inode %d has no use, and has size %d, high size %d, %d blocks, flags %#x, file_acl %d and pointers %d",
			ino, le32(i, iSize), le32(i, iSizeHigh), le32(i, iBlocks), i.flags(), i.fileACL(), i.pointers())
	}
	if !i.exists(marked) {
		return faults
	}
	if entryType(i.mode()) == 0 && !reserved {
		fault(checkMode, "mode is %#o", i.mode())
	}
	if f := i.flags() & flagsForeign; f != 0 {
		fault(checkFlags, "flags are %#x", i.flags())
	}
	bs := uint64(l.geo.blockSize)
	switch {
	case i.listsNames() && (i.size() == 0 || i.size()%bs != 0 || i.size() > uint64(l.geo.blocks)*bs):
		fault(checkSize, "the size of a directory is %d, want a multiple of %d", i.size(), bs)
	case i.typ() == modeLink && i.links() > 0 && (i.size() == 0 || i.size() >= bs):
		fault(checkSize, "the size of a symbolic link is %d, want 1 to %d", i.size(), bs-1)
	case i.typ() == modeRegular && i.size() > l.maxFile():
		fault(checkSize, "the size of a file is %d, its pointers reach %d", i.size(), l.maxFile())
	}
	if i.fast() && i.links() > 0 {
		if n := bytes.IndexByte(i[iBlock:iBlock+fastLink], 0); uint64(n) != i.size() {
			fault(checkSymlink, "size is %d, the name ends after %d bytes", i.size(), n)
		}
	}
	if i.typ() == modeLink && !i.fast() && i.links() > 0 {
		for n := range nPointers {
			if (i.pointer(n) != 0) != (n == 0) {
				fault(checkSymlink, "size is %d, pointer %d is %d", i.size(), n, i.pointer(n))
				break
			}
		}
	}
	if acl := i.fileACL(); acl != 0 && (!l.geo.inRange(acl) || l.fixedMeta(acl)) {
		fault(checkPointer, "file_acl is %d", acl)
	}
	return faults
}

// maxFile is the largest size that the pointers of an inode can reach.
func (l *layout) maxFile() uint64 {
	n := l.geo.pointersPerBlock()
	return (nDirect + n + n*n + n*n*n) * uint64(l.geo.blockSize)
}

// inode reads an inode in a state; ino is from 1 to geo.inodes.
func (l *layout) inode(s *state, ino uint32) (inode, error) {
	if ino == 0 || ino > l.geo.inodes {
		return nil, fmt.Errorf("ext3: there is no inode %d", ino)
	}
	block, off := l.inodePlace(ino)
	b, err := s.block(block)
	if err != nil {
		return nil, err
	}
	return inode(b[off : off+inodeLen]), nil
}

// marked tells whether the inode bitmap marks an inode as used.
func (l *layout) marked(s *state, ino uint32) (bool, error) {
	b, err := s.block(l.places[(ino-1)/l.geo.inodesPerGroup].inodeBitmap)
	if err != nil {
		return false, err
	}
	return bit(b, (ino-1)%l.geo.inodesPerGroup), nil
}

// allocated tells whether the block bitmap marks a block as used; block is in range.
func (l *layout) allocated(s *state, block uint32) (bool, error) {
	g := l.geo.groupOf(block)
	b, err := s.block(l.places[g].blockBitmap)
	if err != nil {
		return false, err
	}
	return bit(b, block-l.geo.groupStart(g)), nil
}
