package ext3

import (
	"errors"
	"fmt"
	"io"
	"math/bits"

	"fsward/interp"
)

// Feature flags, as in e2fsprogs' ext2_fs.h.
const (
	compatHasJournal  = 0x4
	compatResizeInode = 0x10
	incompatFiletype  = 0x2
	incompatRecover   = 0x4
	incompatMetaBG    = 0x10
	roSparseSuper     = 0x1

	stateValid = 0x1 // in s_state
)

// What ext3 has. A flag outside of these is named and refused.
const (
	supportedCompat   = 0x1 | 0x2 | compatHasJournal | 0x8 | compatResizeInode | 0x20 // dir_prealloc, imagic_inodes, has_journal, ext_attr, resize_inode, dir_index
	supportedIncompat = incompatFiletype | incompatRecover | incompatMetaBG
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

// marksClean tells whether a file system says of itself that it was unmounted. With a journal this says little.
func marksClean(sb []byte) bool { return le16(sb, sState)&stateValid != 0 }

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
	if le32(sb, sFeatureCompat)&compatHasJournal != 0 && le32(sb, sJournalInum) == 0 {
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
	if log > maxLogBlockSize {
		return bad("log_block_size is %d, at most %d is known", log, maxLogBlockSize)
	}
	if c := le32(sb, sLogClusterSize); c != log {
		return bad("log_cluster_size is %d, want %d", c, log)
	}
	g := &geometry{
		blockSize: 1024 << log, blocks: le32(sb, sBlocksCount), firstData: le32(sb, sFirstData),
		blocksPerGroup: le32(sb, sBlocksPerGroup), inodesPerGroup: le32(sb, sInodesPerGroup), inodes: le32(sb, sInodesCount),
		inodeSize: inodeLen, firstIno: oldFirstIno,
		fileType:    le32(sb, sFeatureIncompat)&incompatFiletype != 0,
		sparseSuper: le32(sb, sFeatureROCompat)&roSparseSuper != 0,
		resizeInode: le32(sb, sFeatureCompat)&compatResizeInode != 0,
	}
	copy(g.uuid[:], sb[sUUID:])
	if le32(sb, sFeatureCompat)&compatHasJournal != 0 {
		g.journalInum = le32(sb, sJournalInum)
	}
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
	case le32(sb, sClustersPerGrp) != g.blocksPerGroup:
		return bad("clusters_per_group is %d, blocks_per_group %d", le32(sb, sClustersPerGrp), g.blocksPerGroup)
	case g.inodeSize < inodeLen || g.inodeSize > g.blockSize || g.inodeSize&(g.inodeSize-1) != 0:
		return bad("inode_size is %d, want a power of two from %d to %d", g.inodeSize, inodeLen, g.blockSize)
	case g.inodesPerGroup < g.blockSize/g.inodeSize || g.inodesPerGroup > perBitmap:
		return bad("inodes_per_group is %d, want %d to %d", g.inodesPerGroup, g.blockSize/g.inodeSize, perBitmap)
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
	g.firstMetaBG = g.descBlocks
	if le32(sb, sFeatureIncompat)&incompatMetaBG != 0 {
		if g.firstMetaBG = le32(sb, sFirstMetaBG); g.firstMetaBG > g.descBlocks {
			return bad("first_meta_bg is %d, there are %d blocks of group descriptors", g.firstMetaBG, g.descBlocks)
		}
	}
	g.tableBlocks = uint32((uint64(g.inodesPerGroup)*uint64(g.inodeSize)-1)/uint64(g.blockSize)) + 1
	if uint64(g.tableBlocks)+uint64(g.firstMetaBG)+4 > uint64(g.blocksPerGroup) {
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
