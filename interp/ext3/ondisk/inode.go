package ondisk

import "fsward/change"

// An Inode is the first 128 bytes of an inode on disk, or nil.
type Inode []byte

// The file types in i_mode.
const (
	ModeFIFO    = 0x1000
	modeChar    = 0x2000
	ModeDir     = 0x4000
	modeBlock   = 0x6000
	ModeRegular = 0x8000
	ModeLink    = 0xa000
	ModeSocket  = 0xc000
	ModeType    = 0xf000
)

// Flags in i_flags.
const (
	FlagImmutable = 0x10
	FlagAppend    = 0x20
	FlagIndex     = 0x1000
	FlagJournal   = 0x4000
	flagExtents   = 0x80000
	flagEAInode   = 0x200000
	flagInline    = 0x10000000

	// encrypt, huge_file, verity, casefold
	FlagsForeign = flagExtents | flagEAInode | flagInline | 0x800 | 0x40000 | 0x100000 | 0x40000000
	FlagsNamed   = FlagImmutable | FlagAppend | FlagIndex | FlagJournal
)

const (
	extentMagic = 0xf30a // EXT4_EXT_MAGIC

	NDirect    = 12 // EXT2_NDIR_BLOCKS
	NPointers  = 15 // EXT2_N_BLOCKS
	RootIno    = 2
	BadIno     = 1
	ResizeIno  = 7
	FastLink   = NPointers * 4
	EntryTypes = 8 // types in directory entries are below this
)

func (i Inode) Mode() uint16 { return LE16(i, InodeModeAt) }

func (i Inode) Type() uint16 { return i.Mode() & ModeType }

// The members of an inode that are numbers of their own.

func (i Inode) Blocks() uint32      { return LE32(i, InodeBlocksAt) }
func (i Inode) Generation() uint32  { return LE32(i, InodeGenerationAt) }
func (i Inode) Faddr() uint32       { return LE32(i, InodeFaddrAt) }
func (i Inode) SizeLow() uint32     { return LE32(i, InodeSizeAt) }
func (i Inode) SizeHigh() uint32    { return LE32(i, InodeSizeHighAt) }
func (i Inode) BlocksHigh() uint16  { return LE16(i, InodeBlocksHighAt) }
func (i Inode) FileACLHigh() uint16 { return LE16(i, InodeFileACLHighAt) }

func (i Inode) Links() uint16 { return LE16(i, InodeLinksCountAt) }

func (i Inode) Flags() uint32 { return LE32(i, InodeFlagsAt) }

func (i Inode) FileACL() uint32 { return LE32(i, InodeFileACLAt) }

func (i Inode) Dtime() uint32 { return LE32(i, InodeDtimeAt) }

// The times, in seconds since 1970. Each is the lower half of a number if it does not fit.

func (i Inode) Atime() uint32 { return LE32(i, InodeAtimeAt) }
func (i Inode) Ctime() uint32 { return LE32(i, InodeCtimeAt) }
func (i Inode) Mtime() uint32 { return LE32(i, InodeMtimeAt) }

func (i Inode) Pointer(n int) uint32 { return LE32(i, InodeBlock0At+4*n) }

func (i Inode) UID() uint64 {
	return uint64(LE16(i, InodeUIDAt)) | uint64(LE16(i,
		InodeUIDHighAt))<<16
}

func (i Inode) GID() uint64 {
	return uint64(LE16(i, InodeGIDAt)) | uint64(LE16(i,
		InodeGIDHighAt))<<16
}

func (i Inode) IsDir() bool { return i.Type() == ModeDir }

func (i Inode) Exists(marked bool) bool { return i.Links() > 0 || marked && i.Mode() != 0 }

func (i Inode) ListsNames() bool { return i.IsDir() && i.Links() > 0 }

func (i Inode) HasIndex() bool { return i.Flags()&FlagIndex != 0 }

// HasExtents reports whether the inode has the root of a tree of extents in place of pointers, as
// ext4's inodes have (struct ext4_extent_header).
func (i Inode) HasExtents() bool {
	return i.Flags()&flagExtents != 0 && LE16(i, InodeBlock0At) == extentMagic
}

// HoldsSomething reports whether an unused inode has contents in the sense of e2fsck, which also
// checks reserved inodes that are not in use (e2fsck/pass1.c, check_blocks). A time of deletion
// does not count, since e2fsck sets it when it clears an inode.
func (i Inode) HoldsSomething() bool {
	return LE32(i, InodeSizeAt)|LE32(i, InodeSizeHighAt)|LE32(i,
		InodeBlocksAt)|i.Flags()|i.FileACL() != 0 || i.Pointers() != [NPointers]uint32{}
}

func (i Inode) Pointers() (p [NPointers]uint32) {
	for n := range p {
		p[n] = i.Pointer(n)
	}
	return p
}

func (i Inode) Size() (bytes uint64) {
	bytes = uint64(LE32(i, InodeSizeAt))
	if i.Type() == ModeRegular { // elsewhere the upper half is i_dir_acl
		bytes |= uint64(LE32(i, InodeSizeHighAt)) << 32
	}
	return bytes
}

// Fast reports whether the inode itself holds the target of a symbolic link, in the place of its
// pointers.
func (i Inode) Fast() bool { return i.Type() == ModeLink && i.Size() > 0 && i.Size() < FastLink }

// Maps reports whether the pointers of the inode have a meaning. An inode that is neither linked
// nor marked as used owns no blocks, and a device has its number in place of pointers.
func (i Inode) Maps(marked bool) bool {
	if !i.Exists(marked) {
		return false
	}
	switch i.Type() {
	case ModeRegular, ModeDir:
		return true
	case ModeLink:
		return !i.Fast()
	}
	return false
}

// DirBlocks returns the number of blocks with entries of a directory: 0 if it has no links.
func (i Inode) DirBlocks(blockSize uint32) uint64 {
	if !i.ListsNames() {
		return 0
	}
	return i.Size() / uint64(blockSize)
}

// EntryType returns the type of a mode in directory entries (EXT2_FT_*), 0 for a mode of no type.
func EntryType(mode uint16) uint8 {
	switch mode & ModeType {
	case ModeRegular:
		return 1
	case ModeDir:
		return 2
	case modeChar:
		return 3
	case modeBlock:
		return 4
	case ModeFIFO:
		return 5
	case ModeSocket:
		return 6
	case ModeLink:
		return 7
	}
	return 0
}

func TypeWord(entryType uint8) change.Value {
	return change.WordValue(wordType + change.WordID(entryType))
}
