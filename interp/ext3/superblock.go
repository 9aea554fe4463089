package ext3

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"fsward/interp"
)

// Feature flags, as in e2fsprogs' ext2_fs.h.
const (
	compatHasJournal = 0x4
	incompatFiletype = 0x2
	incompatRecover  = 0x4
	roSparseSuper    = 0x1
)

// What ext3 has. A flag outside of these is named and refused.
const (
	supportedCompat   = 0x1 | 0x2 | compatHasJournal | 0x8 | 0x10 | 0x20 // dir_prealloc, imagic_inodes, has_journal, ext_attr, resize_inode, dir_index
	supportedIncompat = incompatFiletype | incompatRecover
	supportedROCompat = roSparseSuper | 0x2 | 0x4 // sparse_super, large_file, btree_dir
)

var featureNames = map[string][]string{
	"compat": {"dir_prealloc", "imagic_inodes", "has_journal", "ext_attr", "resize_inode", "dir_index", "lazy_bg", "exclude_inode",
		"exclude_bitmap", "sparse_super2", "fast_commit", "stable_inodes", "orphan_file"},
	"incompat": {"compression", "filetype", "needs_recovery", "journal_dev", "meta_bg", "", "extents", "64bit", "mmp", "flex_bg",
		"ea_inode", "", "dirdata", "metadata_csum_seed", "large_dir", "inline_data", "encrypt", "casefold"},
	"ro_compat": {"sparse_super", "large_file", "btree_dir", "huge_file", "uninit_bg", "dir_nlink", "extra_isize", "has_snapshot",
		"quota", "bigalloc", "metadata_csum", "replica", "readonly", "project", "shared_blocks", "verity", "orphan_present"},
}

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
	tableBlocks    uint32 // blocks of a group's inode table
	journalInum    uint32
	fileType       bool // directory entries have a file type
	sparseSuper    bool
	uuid           [16]byte
}

// readSuper reads the superblock's bytes from a device.
func readSuper(d io.ReaderAt) ([]byte, error) {
	b := make([]byte, superLen)
	if n, err := d.ReadAt(b, superOff); n < superLen {
		if err == nil || errors.Is(err, io.EOF) {
			return nil, interp.ErrNotFound
		}
		return nil, err
	}
	return b, nil
}

// Detect tells whether a disk has the magic of an ext2, ext3 or ext4 superblock.
func Detect(d interp.Disk) bool {
	b, err := readSuper(d)
	return err == nil && le16(b, sMagic) == superMagic
}

func needsRecovery(sb []byte) bool { return le32(sb, sFeatureIncompat)&incompatRecover != 0 }

// unsupported names a feature flag that fsward cannot check, or returns nil.
func unsupported(sb []byte) error {
	name := func(feature string) error { return &interp.UnsupportedError{FS: "ext3", Feature: feature} }
	for _, set := range []struct {
		name       string
		have, know uint32
	}{
		{"incompat", le32(sb, sFeatureIncompat), supportedIncompat},
		{"ro_compat", le32(sb, sFeatureROCompat), supportedROCompat},
		{"compat", le32(sb, sFeatureCompat), supportedCompat},
	} {
		extra := set.have &^ set.know
		if extra == 0 {
			continue
		}
		i := bits.TrailingZeros32(extra)
		label := "unknown feature"
		if names := featureNames[set.name]; i < len(names) && names[i] != "" {
			label = names[i]
		}
		return name(fmt.Sprintf("%s (%s flag %#x)", label, set.name, uint32(1)<<i))
	}
	switch {
	case le32(sb, sFeatureCompat)&compatHasJournal == 0:
		return name("a file system without a journal (ext2)")
	case le32(sb, sJournalInum) == 0:
		return name(fmt.Sprintf("an external journal (journal_dev %#x)", le32(sb, sJournalDev)))
	}
	return nil
}

// readGeometry checks a superblock and takes from it what the rest of the package relies on: every
// number in the result is within bounds and consistent with the others. size is the device's, bytes.
// The errors are interp.ErrNotFound, *interp.UnsupportedError and *interp.CorruptError.
func readGeometry(sb []byte, size uint64) (*geometry, error) {
	if le16(sb, sMagic) != superMagic {
		return nil, interp.ErrNotFound
	}
	if err := unsupported(sb); err != nil {
		return nil, err
	}
	bad := func(format string, args ...any) (*geometry, error) {
		return nil, &interp.CorruptError{FS: "ext3", Addr: superOff, Reason: fmt.Sprintf(format, args...)}
	}
	log := le32(sb, sLogBlockSize)
	if log > 6 {
		return bad("log_block_size is %d, at most 6 is known", log)
	}
	if c := le32(sb, sLogClusterSize); c != log {
		return bad("log_cluster_size is %d, want %d", c, log)
	}
	g := &geometry{
		blockSize: 1024 << log, blocks: le32(sb, sBlocksCount), firstData: le32(sb, sFirstData),
		blocksPerGroup: le32(sb, sBlocksPerGroup), inodesPerGroup: le32(sb, sInodesPerGroup), inodes: le32(sb, sInodesCount),
		inodeSize: inodeLen, firstIno: 11, journalInum: le32(sb, sJournalInum),
		fileType:    le32(sb, sFeatureIncompat)&incompatFiletype != 0,
		sparseSuper: le32(sb, sFeatureROCompat)&roSparseSuper != 0,
	}
	copy(g.uuid[:], sb[sUUID:])
	if le32(sb, sRevLevel) > 0 {
		g.inodeSize, g.firstIno = uint32(le16(sb, sInodeSize)), le32(sb, sFirstIno)
	}
	wantFirst := uint32(0)
	if log == 0 {
		wantFirst = 1
	}
	perBitmap := 8 * g.blockSize
	switch {
	case g.firstData != wantFirst:
		return bad("first_data_block is %d, want %d", g.firstData, wantFirst)
	case g.blocks <= g.firstData:
		return bad("blocks_count is %d", g.blocks)
	case uint64(g.blocks)*uint64(g.blockSize) > size:
		return bad("%d blocks of %d bytes do not fit the device of %d bytes", g.blocks, g.blockSize, size)
	case g.blocksPerGroup == 0 || g.blocksPerGroup > perBitmap || g.blocksPerGroup%8 != 0:
		return bad("blocks_per_group is %d, want a multiple of 8 up to %d", g.blocksPerGroup, perBitmap)
	case g.inodesPerGroup == 0 || g.inodesPerGroup > perBitmap:
		return bad("inodes_per_group is %d, want 1 to %d", g.inodesPerGroup, perBitmap)
	case g.inodeSize < inodeLen || g.inodeSize > g.blockSize || g.inodeSize&(g.inodeSize-1) != 0:
		return bad("inode_size is %d, want a power of two from %d to %d", g.inodeSize, inodeLen, g.blockSize)
	case g.firstIno < 11 || g.firstIno > g.inodes:
		return bad("first_ino is %d, want 11 to %d", g.firstIno, g.inodes)
	case g.journalInum > g.inodes:
		return bad("journal_inum is %d, there are %d inodes", g.journalInum, g.inodes)
	}
	g.groups = (g.blocks-g.firstData-1)/g.blocksPerGroup + 1
	if uint64(g.groups)*uint64(g.inodesPerGroup) != uint64(g.inodes) {
		return bad("inodes_count is %d, want %d groups of %d", g.inodes, g.groups, g.inodesPerGroup)
	}
	g.descBlocks = (g.groups-1)/(g.blockSize/descLen) + 1
	g.tableBlocks = uint32((uint64(g.inodesPerGroup)*uint64(g.inodeSize)-1)/uint64(g.blockSize)) + 1
	if uint64(g.tableBlocks)+uint64(g.descBlocks)+3 > uint64(g.blocksPerGroup) {
		return bad("the inode table of a group has %d blocks, the group only %d", g.tableBlocks, g.blocksPerGroup)
	}
	if f := le32(sb, sFreeBlocks); f > g.blocks {
		return bad("free_blocks_count is %d of %d", f, g.blocks)
	}
	if f := le32(sb, sFreeInodes); f > g.inodes {
		return bad("free_inodes_count is %d of %d", f, g.inodes)
	}
	return g, nil
}

// changedFrom describes the first difference between two geometries, "" if there is none.
func (g *geometry) changedFrom(old *geometry) string {
	for _, f := range []struct {
		name     string
		old, new uint32
	}{
		{"block size", old.blockSize, g.blockSize}, {"blocks_count", old.blocks, g.blocks},
		{"first_data_block", old.firstData, g.firstData}, {"blocks_per_group", old.blocksPerGroup, g.blocksPerGroup},
		{"inodes_per_group", old.inodesPerGroup, g.inodesPerGroup}, {"inodes_count", old.inodes, g.inodes},
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

// pointersPerBlock is the number of block numbers in an indirect block.
func (g *geometry) pointersPerBlock() uint64 { return uint64(g.blockSize / 4) }
