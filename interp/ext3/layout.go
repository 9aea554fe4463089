package ext3

import (
	"encoding/binary"

	"fsward/change"
)

// A column is a field of an on-disk structure: where it stands and how rules call it. One table of
// columns for each structure drives the records, the view and the alterer; a test holds the tables
// against the headers of e2fsprogs.
type column struct {
	field change.Field // 0: not part of the records
	name  string       // as in struct ext2_super_block, ext2_group_desc, ext2_inode, without the prefix
	off   int          // bytes from the start of the structure
	width int          // bytes: 1, 2 or 4; little-endian
}

func (c column) get(b []byte) uint64 {
	switch b = b[c.off:]; c.width {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	default:
		return uint64(binary.LittleEndian.Uint32(b))
	}
}

func (c column) put(b []byte, v uint64) {
	switch b = b[c.off:]; c.width {
	case 1:
		b[0] = byte(v)
	case 2:
		binary.LittleEndian.PutUint16(b, uint16(v))
	default:
		binary.LittleEndian.PutUint32(b, uint32(v))
	}
}

// struct ext2_super_block, at byte 1024 of the device.
const (
	superOff = 1024
	superLen = 1024

	sInodesCount     = 0
	sBlocksCount     = 4
	sFreeBlocks      = 12
	sFreeInodes      = 16
	sFirstData       = 20
	sLogBlockSize    = 24
	sLogClusterSize  = 28
	sBlocksPerGroup  = 32
	sClustersPerGrp  = 36
	sInodesPerGroup  = 40
	sMountTime       = 44
	sWriteTime       = 48
	sMagic           = 56
	sState           = 58
	sRevLevel        = 76
	sFirstIno        = 84
	sInodeSize       = 88
	sFeatureCompat   = 92
	sFeatureIncompat = 96
	sFeatureROCompat = 100
	sUUID            = 104
	sReservedGDT     = 206
	sJournalUUID     = 208
	sJournalInum     = 224
	sJournalDev      = 228
	sLastOrphan      = 232
	sHashSeed        = 236
	sFlags           = 352
	sFirstMetaBG     = 260
	sMinExtraSize    = 348
	sWantExtraSize   = 350
	sJournalBackup   = 253 // s_jnl_backup_type, one byte
	sJournalBlocks   = 268 // s_jnl_blocks: the pointers of the journal's inode

	superMagic = 0xef53

	oldFirstIno = 11 // of revision 0
)

var superColumns = []column{
	{fieldInodesCount, "inodes_count", sInodesCount, 4},
	{fieldBlocksCount, "blocks_count", sBlocksCount, 4},
	{fieldRBlocksCount, "r_blocks_count", 8, 4},
	{fieldFreeBlocks, "free_blocks_count", sFreeBlocks, 4},
	{fieldFreeInodes, "free_inodes_count", sFreeInodes, 4},
	{fieldFirstData, "first_data_block", sFirstData, 4},
	{fieldLogBlockSize, "log_block_size", sLogBlockSize, 4},
	{fieldBlocksPerGroup, "blocks_per_group", sBlocksPerGroup, 4},
	{fieldInodesPerGroup, "inodes_per_group", sInodesPerGroup, 4},
	{0, "magic", sMagic, 2},
	{fieldState, "state", sState, 2},
	{fieldRevLevel, "rev_level", sRevLevel, 4},
	{fieldFirstIno, "first_ino", sFirstIno, 4},
	{fieldInodeSize, "inode_size", sInodeSize, 2},
	{fieldFeatureCompat, "feature_compat", sFeatureCompat, 4},
	{fieldFeatureIncompat, "feature_incompat", sFeatureIncompat, 4},
	{fieldFeatureROCompat, "feature_ro_compat", sFeatureROCompat, 4},
	{fieldReservedGDT, "reserved_gdt_blocks", sReservedGDT, 2},
	{fieldJournalInum, "journal_inum", sJournalInum, 4},
	{fieldLastOrphan, "last_orphan", sLastOrphan, 4},
	{fieldMountTime, "mtime", sMountTime, 4},
	{fieldCreatorOS, "creator_os", 72, 4},
	{fieldJournalBackup, "jnl_backup_type", sJournalBackup, 1},
	{fieldDescSize, "desc_size", 254, 2},
	{fieldBlocksCountHigh, "blocks_count_hi", 336, 4},
	{fieldGroupsPerFlex, "log_groups_per_flex", 372, 1},
	{fieldErrorCount, "error_count", 404, 4},
	{fieldUserQuota, "usr_quota_inum", 576, 4},
	{fieldGroupQuota, "grp_quota_inum", 580, 4},
	{fieldProjectQuota, "prj_quota_inum", 620, 4},
	{fieldMinExtraSize, "min_extra_isize", sMinExtraSize, 2},
	{fieldWantExtraSize, "want_extra_isize", sWantExtraSize, 2},
}

// struct ext2_group_desc.
const (
	descLen       = 32
	bgBlockBitmap = 0
	bgInodeBitmap = 4
	bgInodeTable  = 8
	bgFreeBlocks  = 12
	bgFreeInodes  = 14
	bgUsedDirs    = 16
)

var groupColumns = []column{
	{fieldBlockBitmap, "block_bitmap", bgBlockBitmap, 4},
	{fieldInodeBitmap, "inode_bitmap", bgInodeBitmap, 4},
	{fieldInodeTable, "inode_table", bgInodeTable, 4},
	{fieldFreeBlocks, "free_blocks_count", bgFreeBlocks, 2},
	{fieldFreeInodes, "free_inodes_count", bgFreeInodes, 2},
	{fieldUsedDirs, "used_dirs_count", bgUsedDirs, 2},
	{fieldGroupFlags, "flags", 18, 2},
	{fieldUnusedInodes, "itable_unused", 28, 2},
}

// struct ext2_inode: the first 128 bytes of an inode, all that ext3 has.
const (
	inodeLen     = 128
	iMode        = 0
	iUID         = 2
	iSize        = 4
	iDtime       = 20
	iGID         = 24
	iLinks       = 26
	iBlocks      = 28
	iFlags       = 32
	iBlock       = 40
	iGeneration  = 100
	iFileACL     = 104
	iSizeHigh    = 108
	iFaddr       = 112
	iBlocksHigh  = 116
	iFileACLHigh = 118
	iUIDHigh     = 120
	iGIDHigh     = 122

	nDirect   = 12 // EXT2_NDIR_BLOCKS
	nPointers = 15 // EXT2_N_BLOCKS
)

// inodeColumns lists what the alterer can set. The records of an inode are made by inodeValues, since
// several of them are parts of a field or span two.
var inodeColumns = []column{
	{fieldMode, "mode", iMode, 2},
	{fieldUID, "uid", iUID, 2},
	{fieldSize, "size", iSize, 4},
	{fieldDtime, "dtime", iDtime, 4},
	{fieldGID, "gid", iGID, 2},
	{fieldLinks, "links_count", iLinks, 2},
	{fieldBlocks, "blocks", iBlocks, 4},
	{fieldFlags, "flags", iFlags, 4},
	{0, "block0", iBlock, 4}, {0, "block1", iBlock + 4, 4}, {0, "block2", iBlock + 8, 4}, {0, "block3", iBlock + 12, 4},
	{0, "block4", iBlock + 16, 4}, {0, "block5", iBlock + 20, 4}, {0, "block6", iBlock + 24, 4}, {0, "block7", iBlock + 28, 4},
	{0, "block8", iBlock + 32, 4}, {0, "block9", iBlock + 36, 4}, {0, "block10", iBlock + 40, 4}, {0, "block11", iBlock + 44, 4},
	{0, "block12", iBlock + 48, 4}, {0, "block13", iBlock + 52, 4}, {0, "block14", iBlock + 56, 4},
	{fieldGeneration, "generation", iGeneration, 4},
	{fieldFileACL, "file_acl", iFileACL, 4},
	{fieldSizeHigh, "size_high", iSizeHigh, 4},
	{fieldFaddr, "faddr", iFaddr, 4},
	{fieldBlocksHigh, "blocks_high", iBlocksHigh, 2},
	{fieldFileACLHigh, "file_acl_high", iFileACLHigh, 2},
}

// struct ext2_dir_entry_2; without the feature filetype, file_type says nothing.
const (
	dirInode     = 0
	dirRecLen    = 4
	dirNameLen   = 6
	dirFileType  = 7
	dirHeaderLen = 8
	dotLen       = 12 // of the entry ., which is followed by ..
)

var direntColumns = []column{
	{fieldInode, "inode", dirInode, 4},
	{0, "rec_len", dirRecLen, 2},
	{0, "name_len", dirNameLen, 1},
	{fieldFileType, "file_type", dirFileType, 1},
}

// struct ext2_ext_attr_header.
const (
	xattrMagic    = 0xea020000
	xattrRefcount = 4
	xattrBlocks   = 8
	xattrHeader   = 32
)

var xattrColumns = []column{
	{fieldRefcount, "refcount", xattrRefcount, 4},
}

func le16(b []byte, off int) uint16 { return binary.LittleEndian.Uint16(b[off:]) }
func le32(b []byte, off int) uint32 { return binary.LittleEndian.Uint32(b[off:]) }
func be32(b []byte, off int) uint32 { return binary.BigEndian.Uint32(b[off:]) }

func bit(b []byte, n uint32) bool { return b[n/8]>>(n%8)&1 != 0 }
