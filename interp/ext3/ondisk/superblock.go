package ondisk

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"fsward/change"
	"fsward/interp"
)

func SuperValue(sb []byte) func(change.Field) change.Value {
	get := SuperLayout.Values(sb)
	return func(f change.Field) change.Value {
		dynamic := SuperOf(sb).RevLevel() > 0
		switch {
		case f == fieldRecover:
			return change.Bit(NeedsRecovery(sb))
		case f == fieldJournalUUID: // the first of four parts
			return change.Num(uint64(binary.LittleEndian.Uint32(SuperOf(sb).JournalUUID())))
		case f == fieldHashSeedLow:
			return change.Num(binary.LittleEndian.Uint64(SuperOf(sb).HashSeed()))
		case f == fieldHashSeedHigh:
			return change.Num(binary.LittleEndian.Uint64(SuperOf(sb).HashSeed()[8:]))
		case f == fieldHashFlags:
			return change.Num(uint64(SuperOf(sb).Flags() & (flagSignedHash | flagUnsignedHash)))
		case f == fieldFirstIno && !dynamic: // EXT2_GOOD_OLD_FIRST_INO, EXT2_GOOD_OLD_INODE_SIZE
			return change.Num(oldFirstIno)
		case f == fieldInodeSize && !dynamic:
			return change.Num(InodeLen)
		}
		return get(f)
	}
}

// SuperOff is the device address of the primary superblock, bytes.
const SuperOff = 1024

const (
	Magic       = 0xef53 // s_magic
	oldFirstIno = 11     // of revision 0
)

// Feature flags, as in e2fsprogs' ext2_fs.h.
const (
	compatHasJournal  = 0x4
	compatResizeInode = 0x10
	IncompatFiletype  = 0x2
	IncompatRecover   = 0x4
	incompatJournal   = 0x8
	incompatMetaBG    = 0x10
	roSparseSuper     = 0x1

	StateValid = 0x1 // in s_state
)

// The features of ext3. fsward names any other flag and refuses the file system.
const (
	// dir_prealloc, imagic_inodes, has_journal, ext_attr, resize_inode, dir_index
	supportedCompat   = 0x1 | 0x2 | compatHasJournal | 0x8 | compatResizeInode | 0x20
	supportedIncompat = IncompatFiletype | IncompatRecover | incompatMetaBG
	// sparse_super, large_file, btree_dir, quota
	supportedROCompat = roSparseSuper | 0x2 | 0x4 | 0x100
)

var featureNames = map[string][]string{
	"compat": {"dir_prealloc", "imagic_inodes", "has_journal", "ext_attr", "resize_inode", "dir_index",
		"lazy_bg", "exclude_inode",
		"exclude_bitmap", "sparse_super2", "fast_commit", "stable_inodes", "orphan_file"},
	"incompat": {"compression", "filetype", "needs_recovery", "journal_dev", "meta_bg", "", "extents",
		"64bit", "mmp", "flex_bg",
		"ea_inode", "", "dirdata", "metadata_csum_seed", "large_dir", "inline_data", "encrypt",
		"casefold"},
	"ro_compat": {"sparse_super", "large_file", "btree_dir", "huge_file", "uninit_bg", "dir_nlink",
		"extra_isize", "has_snapshot",
		"quota", "bigalloc", "metadata_csum", "replica", "readonly", "project", "shared_blocks", "verity",
		"orphan_present"},
}

// MarksClean reports whether the superblock marks the file system as unmounted. With a journal this
// says little.
func MarksClean(sb []byte) bool { return SuperOf(sb).State()&StateValid != 0 }

func NeedsRecovery(sb []byte) bool { return SuperOf(sb).FeatureIncompat()&IncompatRecover != 0 }

// unsupported names a feature flag that fsward cannot check, or returns nil.
func unsupported(sb []byte) error {
	for _, set := range []struct {
		name       string
		have, know uint32
	}{
		{"incompat", SuperOf(sb).FeatureIncompat(), supportedIncompat},
		{"ro_compat", SuperOf(sb).FeatureROCompat(), supportedROCompat},
		{"compat", SuperOf(sb).FeatureCompat(), supportedCompat},
	} {
		if extra := set.have &^ set.know; extra != 0 {
			return unsupportedFlag(set.name, bits.TrailingZeros32(extra))
		}
	}
	return nil
}

// unsupportedFlag says that fsward does not support the feature of a flag, by its number, in a set
// of features.
func unsupportedFlag(set string, number int) *interp.UnsupportedError {
	label := "unknown feature"
	if names := featureNames[set]; number < len(names) && names[number] != "" {
		label = names[number]
	}
	return &interp.UnsupportedError{FS: "ext3",
		Feature: fmt.Sprintf("%s (%s flag %#x)", label, set, uint32(1)<<number)}
}

// BackupGroup returns the group whose copy of the superblock b is; 0 if it is the primary one.
func BackupGroup(b []byte) uint16 {
	return binary.LittleEndian.Uint16(b[SuperBlockGroupNrAt:])
}

// IsJournalDevice reports whether a superblock is that of the disk of an external journal.
func IsJournalDevice(sb []byte) bool {
	return SuperOf(sb).Magic() == Magic && SuperOf(sb).FeatureIncompat()&incompatJournal != 0
}

// UUIDText returns a UUID as e2fsprogs print it.
func UUIDText(uuid [UUIDLen]byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", uuid[:4], uuid[4:6], uuid[6:8], uuid[8:10], uuid[10:])
}

// ParseGeometry checks a superblock and returns its geometry. Each number in it is within bounds
// and consistent with the others. size is the size of the device in bytes. The errors are
// interp.ErrNotFound, *interp.UnsupportedError and *interp.CorruptError.
func ParseGeometry(sb []byte, size uint64) (*Geometry, error) {
	v := SuperOf(sb)
	if v.Magic() != Magic {
		return nil, interp.ErrNotFound
	}
	if err := unsupported(sb); err != nil {
		return nil, err
	}
	if log := v.LogBlockSize(); log > maxLogBlockSize {
		return nil, Corrupt(SuperOff, "log_block_size is %d, at most %d is known", log, maxLogBlockSize)
	} else if c := v.LogClusterSize(); c != log {
		return nil, Corrupt(SuperOff, "log_cluster_size is %d, want %d", c, log)
	}
	g := readGeometry(v)
	if err := g.checkNumbers(v, size); err != nil {
		return nil, err
	}
	if err := g.layOut(v); err != nil {
		return nil, err
	}
	return g, nil
}

// readGeometry reads the numbers of a superblock whose block size is known.
func readGeometry(v Super) *Geometry {
	g := &Geometry{
		BlockSize: 1024 << v.LogBlockSize(), Blocks: v.BlocksCount(), FirstData: v.FirstDataBlock(),
		BlocksPerGroup: v.BlocksPerGroup(), InodesPerGroup: v.InodesPerGroup(), Inodes: v.InodesCount(),
		InodeSize: InodeLen, FirstIno: oldFirstIno,
		FileType:    v.FeatureIncompat()&IncompatFiletype != 0,
		sparseSuper: v.FeatureROCompat()&roSparseSuper != 0,
		resizeInode: v.FeatureCompat()&compatResizeInode != 0,
		UUID:        [UUIDLen]byte(v.UUID()),
	}
	if v.FeatureCompat()&compatHasJournal != 0 {
		if g.JournalInum = v.JournalInum(); g.JournalInum == 0 {
			g.External, g.JournalUUID = true, [UUIDLen]byte(v.JournalUUID())
		}
	}
	if v.RevLevel() > 0 {
		g.InodeSize, g.FirstIno = uint32(v.InodeSize()), v.FirstIno()
	}
	return g
}

// checkNumbers checks each number of a superblock against its bounds.
func (g *Geometry) checkNumbers(v Super, size uint64) error {
	bad := func(format string, args ...any) error { return Corrupt(SuperOff, format, args...) }
	wantFirst := uint32(0)
	if g.BlockSize == 1024 {
		wantFirst = 1
	}
	perBitmap := 8 * g.BlockSize
	switch {
	case g.FirstData != wantFirst:
		return bad("first_data_block is %d, want %d", g.FirstData, wantFirst)
	case g.Blocks <= g.FirstData:
		return bad("blocks_count is %d", g.Blocks)
	case uint64(g.Blocks)*uint64(g.BlockSize) > size:
		return bad("%d blocks of %d bytes do not fit the device of %d bytes", g.Blocks, g.BlockSize, size)
	case g.BlocksPerGroup == 0 || g.BlocksPerGroup > perBitmap || g.BlocksPerGroup%8 != 0:
		return bad("blocks_per_group is %d, want a multiple of 8 up to %d", g.BlocksPerGroup, perBitmap)
	case v.ClustersPerGroup() != g.BlocksPerGroup:
		return bad("clusters_per_group is %d, blocks_per_group %d", v.ClustersPerGroup(),
			g.BlocksPerGroup)
	case g.InodeSize < InodeLen || g.InodeSize > g.BlockSize || g.InodeSize&(g.InodeSize-1) != 0:
		return bad("inode_size is %d, want a power of two from %d to %d", g.InodeSize, InodeLen,
			g.BlockSize)
	case g.InodesPerGroup < g.BlockSize/g.InodeSize || g.InodesPerGroup > perBitmap:
		return bad("inodes_per_group is %d, want %d to %d", g.InodesPerGroup, g.BlockSize/g.InodeSize,
			perBitmap)
	case g.FirstIno < 11 || g.FirstIno > g.Inodes:
		return bad("first_ino is %d, want 11 to %d", g.FirstIno, g.Inodes)
	case g.JournalInum > g.Inodes:
		return bad("journal_inum is %d, there are %d inodes", g.JournalInum, g.Inodes)
	}
	return nil
}

// layOut computes the places of the groups and their descriptors, and checks that they are
// consistent.
func (g *Geometry) layOut(v Super) error {
	bad := func(format string, args ...any) error { return Corrupt(SuperOff, format, args...) }
	g.Groups = (g.Blocks-g.FirstData-1)/g.BlocksPerGroup + 1
	if uint64(g.Groups)*uint64(g.InodesPerGroup) != uint64(g.Inodes) {
		return bad("inodes_count is %d, want %d groups of %d", g.Inodes, g.Groups, g.InodesPerGroup)
	}
	g.DescBlocks = (g.Groups-1)/(g.BlockSize/GroupDescLen) + 1
	g.firstMetaBG = g.DescBlocks
	if v.FeatureIncompat()&incompatMetaBG != 0 {
		if g.firstMetaBG = v.FirstMetaBG(); g.firstMetaBG > g.DescBlocks {
			return bad("first_meta_bg is %d, there are %d blocks of group descriptors", g.firstMetaBG,
				g.DescBlocks)
		}
	}
	g.TableBlocks = uint32((uint64(g.InodesPerGroup)*uint64(g.InodeSize)-1)/uint64(g.BlockSize)) + 1
	if uint64(g.TableBlocks)+uint64(g.firstMetaBG)+4 > uint64(g.BlocksPerGroup) {
		return bad("the inode table of a group has %d blocks, the group only %d", g.TableBlocks,
			g.BlocksPerGroup)
	}
	if f := v.FreeBlocksCount(); f > g.Blocks {
		return bad("free_blocks_count is %d of %d", f, g.Blocks)
	}
	if f := v.FreeInodesCount(); f > g.Inodes {
		return bad("free_inodes_count is %d of %d", f, g.Inodes)
	}
	return nil
}
