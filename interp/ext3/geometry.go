package ext3

import (
	"bytes"
	"fmt"
)

// The sizes of blocks are 1024 << s_log_block_size (EXT2_MAX_BLOCK_LOG_SIZE).
const (
	maxLogBlockSize = 6
	maxBlockSize    = 1024 << maxLogBlockSize
	uuidLen         = 16
)

// A geometry is what of a superblock does not change while the file system is mounted.
type geometry struct {
	blockSize      uint32 // bytes
	blocks         uint32 // in the file system; the last is blocks-1
	firstData      uint32 // 1 with blocks of 1024 bytes, else 0
	blocksPerGroup uint32
	inodesPerGroup uint32
	inodes         uint32 // the last inode is inodes
	inodeSize      uint32 // bytes, a power of two
	firstIno       uint32 // the first inode that is not reserved
	groups         uint32
	descBlocks     uint32 // blocks of the group descriptor table
	firstMetaBG    uint32 // descriptor blocks before this one stand behind the superblock; with meta_bg, the others with their groups
	tableBlocks    uint32 // blocks of a group's inode table
	journalInum    uint32 // 0: there is no journal (ext2)
	fileType       bool   // directory entries have a file type
	sparseSuper    bool
	resizeInode    bool
	uuid           [uuidLen]byte
}

// changedFrom describes the first difference between two geometries, "" if there is none.
func (g *geometry) changedFrom(old *geometry) string {
	if g.blocks != old.blocks {
		return fmt.Sprintf("blocks_count changed from %d to %d", old.blocks, g.blocks)
	}
	if g.inodes != old.inodes {
		return fmt.Sprintf("inodes_count changed from %d to %d", old.inodes, g.inodes)
	}
	if g.firstMetaBG != old.firstMetaBG {
		return fmt.Sprintf("first_meta_bg changed from %d to %d", old.firstMetaBG, g.firstMetaBG)
	}
	return g.reshapedFrom(old)
}

// grownFrom tells whether a file system grew while it was mounted (ext4_resize_fs), and is the same else.
func (g *geometry) grownFrom(old *geometry) bool {
	// Descriptors beyond what was reserved for them go with their groups (ext4_convert_meta_bg).
	places := old.firstMetaBG == old.descBlocks && g.firstMetaBG == g.descBlocks || g.firstMetaBG == old.firstMetaBG
	return g.blocks > old.blocks && places && g.reshapedFrom(old) == ""
}

// renamedFrom tells whether a file system got another UUID, and is the same else.
func (g *geometry) renamedFrom(old *geometry) bool {
	as := *g
	as.uuid = old.uuid
	return g.uuid != old.uuid && as.changedFrom(old) == ""
}

// reshapedFrom describes the first difference between two geometries apart from how large they are.
func (g *geometry) reshapedFrom(old *geometry) string {
	for _, f := range []struct {
		name     string
		old, new uint32
	}{
		{"block size", old.blockSize, g.blockSize},
		{"first_data_block", old.firstData, g.firstData}, {"blocks_per_group", old.blocksPerGroup, g.blocksPerGroup},
		{"inodes_per_group", old.inodesPerGroup, g.inodesPerGroup},
		{"inode_size", old.inodeSize, g.inodeSize}, {"first_ino", old.firstIno, g.firstIno}, {"journal_inum", old.journalInum, g.journalInum},
	} {
		if f.old != f.new {
			return fmt.Sprintf("%s changed from %d to %d", f.name, f.old, f.new)
		}
	}
	switch {
	case !bytes.Equal(old.uuid[:], g.uuid[:]):
		return fmt.Sprintf("uuid changed from %x to %x", old.uuid, g.uuid)
	case old.fileType != g.fileType:
		return "the feature filetype changed"
	case old.sparseSuper != g.sparseSuper:
		return "the feature sparse_super changed"
	}
	return ""
}

func (g *geometry) addr(block uint32) uint64 { return uint64(block) * uint64(g.blockSize) }

// superBlock is the number of the block that the superblock is in.
func (g *geometry) superBlock() uint32 { return superOff / g.blockSize }

func (g *geometry) inRange(block uint32) bool { return block >= g.firstData && block < g.blocks }

func (g *geometry) groupOf(block uint32) uint32 { return (block - g.firstData) / g.blocksPerGroup }

func (g *geometry) groupStart(group uint32) uint32 { return g.firstData + group*g.blocksPerGroup }

// groupBlocks is the number of blocks of a group: the last one can be short.
func (g *geometry) groupBlocks(group uint32) uint32 {
	return min(g.blocksPerGroup, g.blocks-g.groupStart(group))
}

// hasSuper tells whether a group begins with a copy of the superblock (ext2fs_bg_has_super).
func (g *geometry) hasSuper(group uint32) bool {
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

// perDescBlock is the number of group descriptors in a block.
func (g *geometry) perDescBlock() uint32 { return g.blockSize / descLen }

// descBlock is the block that holds the descriptors number i·perDescBlock() and on.
func (g *geometry) descBlock(i uint32) uint32 {
	if i < g.firstMetaBG {
		return g.superBlock() + 1 + i
	}
	group := i * g.perDescBlock()
	return g.groupStart(group) + uint32(btoi(g.hasSuper(group)))
}

// descIndex is the inverse of descBlock; ok is false for any other block in range.
func (g *geometry) descIndex(block uint32) (i uint32, ok bool) {
	if i := block - g.superBlock() - 1; i < g.firstMetaBG {
		return i, true
	}
	i = g.groupOf(block) / g.perDescBlock()
	return i, i >= g.firstMetaBG && g.descBlock(i) == block
}

// headBlocks is the number of blocks at the beginning of a group that hold a copy of the superblock and of
// group descriptors (ext2fs_super_and_bgd_loc2).
func (g *geometry) headBlocks(group uint32) uint32 {
	n := uint32(btoi(g.hasSuper(group)))
	per := g.perDescBlock()
	if group/per < g.firstMetaBG {
		return n * (1 + min(g.firstMetaBG, g.descBlocks))
	}
	if k := group % per; k == 0 || k == 1 || k == per-1 {
		n++
	}
	return n
}

// pointersPerBlock is the number of block numbers in an indirect block.
func (g *geometry) pointersPerBlock() uint64 { return uint64(g.blockSize / 4) }

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
