package ondisk

import (
	"bytes"
	"fmt"
)

// The sizes of blocks are 1024 << s_log_block_size (EXT2_MAX_BLOCK_LOG_SIZE).
const (
	maxLogBlockSize = 6
	MinBlockSize    = 1024
	MaxBlockSize    = MinBlockSize << maxLogBlockSize
	UUIDLen         = 16
)

// A Geometry holds the numbers of a superblock that do not change while the file system is mounted,
// and numbers that follow from them.
type Geometry struct {
	BlockSize      uint32 // bytes
	Blocks         uint32 // in the file system; the last is blocks-1
	FirstData      uint32 // 1 with blocks of 1024 bytes, else 0
	BlocksPerGroup uint32
	InodesPerGroup uint32
	Inodes         uint32 // the last inode is inodes
	InodeSize      uint32 // bytes, a power of two
	FirstIno       uint32 // the first inode that is not reserved
	Groups         uint32
	DescBlocks     uint32 // blocks of the group descriptor table
	// descriptor blocks before this one follow the superblock; with meta_bg the others are in their
	// groups
	firstMetaBG uint32
	TableBlocks uint32        // blocks of a group's inode table
	JournalInum uint32        // 0: the journal is external, or there is none (ext2)
	External    bool          // the journal is on another disk
	JournalUUID [UUIDLen]byte // of an external journal
	FileType    bool          // directory entries have a file type
	sparseSuper bool
	resizeInode bool
	UUID        [UUIDLen]byte
}

// HasJournal reports whether the file system has a journal.
func (g *Geometry) HasJournal() bool { return g.JournalInum != 0 || g.External }

// ChangedFrom describes the first difference between two geometries, or returns "".
func (g *Geometry) ChangedFrom(old *Geometry) string {
	if g.Blocks != old.Blocks {
		return fmt.Sprintf("blocks_count changed from %d to %d", old.Blocks, g.Blocks)
	}
	if g.Inodes != old.Inodes {
		return fmt.Sprintf("inodes_count changed from %d to %d", old.Inodes, g.Inodes)
	}
	if g.firstMetaBG != old.firstMetaBG {
		return fmt.Sprintf("first_meta_bg changed from %d to %d", old.firstMetaBG, g.firstMetaBG)
	}
	return g.ReshapedFrom(old)
}

// GrownFrom reports whether a file system grew while it was mounted (ext4_resize_fs) and is the
// same otherwise.
func (g *Geometry) GrownFrom(old *Geometry) bool {
	// Descriptors beyond the reserved blocks are in their groups (ext4_convert_meta_bg).
	places := old.firstMetaBG == old.DescBlocks && g.firstMetaBG == g.DescBlocks ||
		g.firstMetaBG == old.firstMetaBG
	return g.Blocks > old.Blocks && places && g.ReshapedFrom(old) == ""
}

// RenamedFrom reports whether a file system got another UUID and is the same otherwise.
func (g *Geometry) RenamedFrom(old *Geometry) bool {
	as := *g
	as.UUID = old.UUID
	return g.UUID != old.UUID && as.ChangedFrom(old) == ""
}

// ReshapedFrom describes the first difference between two geometries, except in size, or returns
// "".
func (g *Geometry) ReshapedFrom(old *Geometry) string {
	for _, f := range []struct {
		name     string
		old, new uint32
	}{
		{"block size", old.BlockSize, g.BlockSize},
		{"first_data_block", old.FirstData, g.FirstData}, {"blocks_per_group", old.BlocksPerGroup,
			g.BlocksPerGroup},
		{"inodes_per_group", old.InodesPerGroup, g.InodesPerGroup},
		{"inode_size", old.InodeSize, g.InodeSize}, {"first_ino", old.FirstIno, g.FirstIno},
		{"journal_inum", old.JournalInum, g.JournalInum},
	} {
		if f.old != f.new {
			return fmt.Sprintf("%s changed from %d to %d", f.name, f.old, f.new)
		}
	}
	switch {
	case !bytes.Equal(old.UUID[:], g.UUID[:]):
		return fmt.Sprintf("uuid changed from %x to %x", old.UUID, g.UUID)
	case old.External != g.External || old.JournalUUID != g.JournalUUID:
		return fmt.Sprintf("the external journal changed from %x to %x", old.JournalUUID, g.JournalUUID)
	case old.FileType != g.FileType:
		return "the feature filetype changed"
	case old.sparseSuper != g.sparseSuper:
		return "the feature sparse_super changed"
	}
	return ""
}

func (g *Geometry) Addr(block uint32) uint64 { return uint64(block) * uint64(g.BlockSize) }

// SuperBlock returns the number of the block that holds the superblock.
func (g *Geometry) SuperBlock() uint32 { return SuperOff / g.BlockSize }

func (g *Geometry) InRange(block uint32) bool { return block >= g.FirstData && block < g.Blocks }

func (g *Geometry) GroupOf(block uint32) uint32 { return (block - g.FirstData) / g.BlocksPerGroup }

func (g *Geometry) GroupStart(group uint32) uint32 { return g.FirstData + group*g.BlocksPerGroup }

// GroupBlocks returns the number of blocks of a group. The last group can be short.
func (g *Geometry) GroupBlocks(group uint32) uint32 {
	return min(g.BlocksPerGroup, g.Blocks-g.GroupStart(group))
}

// HasSuper reports whether a group begins with a copy of the superblock (ext2fs_bg_has_super).
func (g *Geometry) HasSuper(group uint32) bool {
	if group <= 1 || !g.sparseSuper {
		return true
	}
	for _, base := range []uint64{3, 5, 7} {
		n := base
		for n < uint64(group) {
			n *= base
		}
		if n == uint64(group) {
			return true
		}
	}
	return false
}

// PerDescBlock returns the number of group descriptors in a block.
func (g *Geometry) PerDescBlock() uint32 { return g.BlockSize / GroupDescLen }

// DescBlock returns the block that holds the descriptors from number i·PerDescBlock() on.
func (g *Geometry) DescBlock(i uint32) uint32 {
	if i < g.firstMetaBG {
		return g.SuperBlock() + 1 + i
	}
	group := i * g.PerDescBlock()
	return g.GroupStart(group) + uint32(btoi(g.HasSuper(group)))
}

// DescIndex is the inverse of DescBlock. ok is false for any other block in range.
func (g *Geometry) DescIndex(block uint32) (i uint32, ok bool) {
	if i := block - g.SuperBlock() - 1; i < g.firstMetaBG {
		return i, true
	}
	i = g.GroupOf(block) / g.PerDescBlock()
	return i, i >= g.firstMetaBG && g.DescBlock(i) == block
}

// HeadBlocks returns the number of blocks at the beginning of a group that hold a copy of the
// superblock and of group descriptors (ext2fs_super_and_bgd_loc2).
func (g *Geometry) HeadBlocks(group uint32) uint32 {
	n := uint32(btoi(g.HasSuper(group)))
	per := g.PerDescBlock()
	if group/per < g.firstMetaBG {
		return n * (1 + min(g.firstMetaBG, g.DescBlocks))
	}
	if k := group % per; k == 0 || k == 1 || k == per-1 {
		n++
	}
	return n
}

// pointersPerBlock returns the number of block numbers in an indirect block.
func (g *Geometry) pointersPerBlock() uint64 { return uint64(g.BlockSize / 4) }

// Span returns the number of blocks of a file below a pointer of a level: 0 for a block of the
// file, 1 to 3 for an indirect block.
func (g *Geometry) Span(level int) uint64 {
	n := uint64(1)
	for range level {
		n *= g.pointersPerBlock()
	}
	return n
}

// MaxFile returns the largest size that the pointers of an inode can reach, bytes.
func (g *Geometry) MaxFile() uint64 {
	n := g.pointersPerBlock()
	return (NDirect + n + n*n + n*n*n) * uint64(g.BlockSize)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// IsSuperCopy reports whether a block begins with a copy of the superblock. Linux writes the copies
// after the first two without the journal when it has changed the superblock's label or the count
// of blocks that hold no data (ext4_update_superblocks_fn: EXT4_IOC_SETFSLABEL, EXT4_IOC_SETFSUUID,
// and ext4_update_overhead in mounting after resize2fs).
func (g *Geometry) IsSuperCopy(block uint32) bool {
	group := g.GroupOf(block)
	return group > 0 && block == g.GroupStart(group) && g.HasSuper(group)
}
