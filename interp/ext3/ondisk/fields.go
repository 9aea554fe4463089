package ondisk

import (
	"encoding/binary"

	"fsward/change"
)

// What the superblock has that no record tells of; of arrays, the first four bytes.
var SuperOthers = []Field{
	{0, "log_cluster_size", sLogClusterSize, le32n}, {0, "clusters_per_group", 36, le32n}, {0, "wtime", SuperWriteTime, le32n}, {0, "mnt_count", 52, le16n},
	{0, "max_mnt_count", 54, le16n}, {0, "errors", 60, le16n}, {0, "minor_rev_level", 62, le16n}, {0, "lastcheck", 64, le32n}, {0, "checkinterval", 68, le32n},
	{0, "def_resuid", 80, le16n}, {0, "def_resgid", 82, le16n}, {0, "block_group_nr", 90, le16n}, {0, "uuid", SuperUUID, le32n},
	{0, "volume_name", 120, le32n}, {0, "last_mounted", 136, le32n}, {0, "algorithm_usage_bitmap", 200, le32n}, {0, "prealloc_blocks", 204, u8},
	{0, "prealloc_dir_blocks", 205, u8}, {0, "journal_dev", sJournalDev, le32n}, {0, "hash_seed", sHashSeed, le32n},
	{0, "def_hash_version", 252, u8}, {0, "default_mount_opts", 256, le32n},
	{0, "first_meta_bg", sFirstMetaBG, le32n}, {0, "mkfs_time", 264, le32n}, {0, "jnl_blocks", 268, le32n}, {0, "r_blocks_count_hi", 340, le32n},
	{0, "free_blocks_hi", 344, le32n}, {0, "journal_uuid", sJournalUUID, le32n}, {0, "flags", sFlags, le32n}, {0, "raid_stride", 356, le16n},
	{0, "mmp_update_interval", 358, le16n}, {0, "mmp_block", 360, le32n}, {0, "raid_stripe_width", 368, le32n}, {0, "checksum_type", 373, u8},
	{0, "encryption_level", 374, u8}, {0, "kbytes_written", 376, le32n}, {0, "snapshot_inum", 384, le32n}, {0, "snapshot_id", 388, le32n}, {0, "snapshot_r_blocks_count", 392, le32n},
	{0, "snapshot_list", 400, le32n}, {0, "first_error_time", 408, le32n}, {0, "first_error_ino", 412, le32n}, {0, "first_error_block", 416, le32n},
	{0, "first_error_line", 456, le32n}, {0, "last_error_time", 460, le32n}, {0, "last_error_ino", 464, le32n}, {0, "last_error_line", 468, le32n}, {0, "last_error_block", 472, le32n},
	{0, "mount_opts", 512, le32n}, {0, "overhead_clusters", 584, le32n}, {0, "backup_bgs", 588, le32n},
	{0, "encrypt_algos", 596, le32n}, {0, "encrypt_pw_salt", 600, le32n}, {0, "lpf_ino", 616, le32n}, {0, "checksum_seed", 624, le32n},
	{0, "checksum", 1020, le32n},
}

var GroupOthers = []Field{{0, "exclude_bitmap_lo", 20, le32n}, {0, "block_bitmap_csum_lo", 24, le16n}, {0, "inode_bitmap_csum_lo", 26, le16n}, {0, "checksum", 30, le16n}}

// The second part, from extra_isize on, is of struct ext2_inode_large.
var InodeOthers = []Field{
	{0, "atime", 8, le32n}, {0, "ctime", 12, le32n}, {0, "mtime", 16, le32n}, {0, "version", 36, le32n}, {0, "uid_high", iUIDHigh, le16n}, {0, "gid_high", iGIDHigh, le16n}, {0, "checksum_lo", 124, le16n},
	{0, "extra_isize", InodeExtraSize, le16n}, {0, "checksum_hi", 130, le16n}, {0, "ctime_extra", 132, le32n}, {0, "mtime_extra", 136, le32n}, {0, "atime_extra", 140, le32n},
	{0, "crtime", 144, le32n}, {0, "crtime_extra", 148, le32n}, {0, "version_hi", 152, le32n}, {0, "projid", 156, le32n},
}

// IndexFields are of struct dx_root_info and of dx_countlimit behind it. A node has the last two alone, where it has them:
// see indexTarget.
var IndexFields = []Field{
	{0, "reserved_zero", 0, le32n}, {0, "hash_version", 4, u8}, {0, "info_length", 5, u8}, {0, "indirect_levels", 6, u8}, {0, "unused_flags", 7, u8},
	{0, "limit", IndexInfoLen, le16n}, {0, "count", IndexInfoLen + 2, le16n},
}

var XattrOthers = []Field{{0, "magic", 0, le32n}, {0, "blocks", XattrBlocks, le32n}, {0, "hash", 12, le32n}, {0, "checksum", 16, le32n}}

// struct ext2_ext_attr_entry, with the first byte of the name.
var XattrEntryFields = []Field{
	{0, "name_len", 0, u8}, {0, "name_index", xattrNameIndex, u8}, {0, "value_offs", xattrValueOff, le16n}, {0, "value_inum", xattrValueInum, le32n},
	{0, "value_size", XattrValueSize, le32n}, {0, "hash", XattrEntryHash, le32n}, {0, "name", XattrEntryLen, u8},
}

var JournalHeaderFields = []Field{{0, "magic", 0, be32n}, {0, "blocktype", 4, be32n}, {0, "sequence", 8, be32n}}

// struct journal_superblock_s; the sequence of its header is called h_sequence.
var JournalFields = []Field{
	{0, "magic", 0, be32n}, {0, "blocktype", 4, be32n}, {0, "h_sequence", 8, be32n}, {0, "blocksize", jBlockSize, be32n}, {0, "maxlen", jMaxLen, be32n}, {0, "first", jFirst, be32n},
	{0, "sequence", JournalSequence, be32n}, {0, "start", JournalStart, be32n}, {0, "errno", 32, be32n}, {0, "feature_compat", jCompat, be32n}, {0, "feature_incompat", jIncompat, be32n},
	{0, "feature_ro_compat", jROCompat, be32n}, {0, "uuid", jUUID, be32n}, {0, "nr_users", jNrUsers, be32n}, {0, "dynsuper", 68, be32n}, {0, "max_transaction", 72, be32n},
	{0, "max_trans_data", 76, be32n}, {0, "checksum_type", jSumType, u8}, {0, "checksum", jSum, be32n}, {0, "users", 256, be32n},
}

// The number of a block in an indirect block.
var PointerFields = []Field{{0, "block", 0, le32n}}

// The first byte of the name behind a struct ext2_dir_entry_2.
var DirentOthers = []Field{{0, "name", DirHeaderLen, u8}}

// struct dx_entry.
var IndexEntryFields = []Field{{0, "hash", 0, le32n}, {0, "block", 4, le32n}}

// The first byte of the target of a symbolic link with a block of its own.
var LinkNameFields = []Field{{0, "name", 0, u8}}

// struct journal_block_tag_s, what all versions have.
var TagFields = []Field{{0, "blocknr", 0, be32n}, {0, "flags", 6, be16n}}

// struct commit_header, after its header.
var CommitFields = []Field{{0, "commit_sec", 52, be32n}, {0, "chksum_type", commitSumType, u8}, {0, "chksum_size", commitSumSize, u8}, {0, "chksum", commitSum, be32n}}

// struct jbd2_journal_revoke_header_s, after its header.
var RevokeFields = []Field{{0, "count", JournalHeader, be32n}}

// A record of a revoke block: the low half of the number of a block.
var RevokedFields = []Field{{0, "blocknr", 0, be32n}}

// Values reads the fields of a table from a structure's bytes.
func Values(table []Field, b []byte) func(change.Field) change.Value {
	return func(f change.Field) change.Value {
		for _, c := range table {
			if c.field == f {
				return change.Num(c.Get(b))
			}
		}
		return change.Value{}
	}
}

// A column is a field of an on-disk structure: where it stands and how rules call it. One table of
// Values for each structure drives the records, the view and the alterer; a test holds the tables
// against the headers of e2fsprogs.
type Field struct {
	field change.Field // 0: not part of the records
	Name  string       // as in struct ext2_super_block, ext2_group_desc, ext2_inode, without the prefix
	Off   int          // bytes from the start of the structure
	enc   encoding
}

// An encoding is how a number is stored: its width and its byte order.
type encoding uint8

const (
	u8 encoding = iota
	le16n
	le32n
	be16n // the journal is big-endian throughout
	be32n
)

// Width returns the bytes that a field takes: 1, 2 or 4.
func (c Field) Width() int {
	switch c.enc {
	case u8:
		return 1
	case le16n, be16n:
		return 2
	default:
		return 4
	}
}

// Big reports whether a field is big-endian.
func (c Field) Big() bool { return c.enc == be16n || c.enc == be32n }

// Get reads a field of a structure, which has to be long enough.
func (c Field) Get(b []byte) uint64 {
	switch b = b[c.Off:]; c.enc {
	case u8:
		return uint64(b[0])
	case le16n:
		return uint64(binary.LittleEndian.Uint16(b))
	case le32n:
		return uint64(binary.LittleEndian.Uint32(b))
	case be16n:
		return uint64(binary.BigEndian.Uint16(b))
	default:
		return uint64(binary.BigEndian.Uint32(b))
	}
}

// Put writes a field of a structure, which has to be long enough. It cuts off the bits that do not fit.
func (c Field) Put(b []byte, v uint64) {
	switch b = b[c.Off:]; c.enc {
	case u8:
		b[0] = byte(v)
	case le16n:
		binary.LittleEndian.PutUint16(b, uint16(v))
	case le32n:
		binary.LittleEndian.PutUint32(b, uint32(v))
	case be16n:
		binary.BigEndian.PutUint16(b, uint16(v))
	default:
		binary.BigEndian.PutUint32(b, uint32(v))
	}
}

// struct ext2_super_block, at byte 1024 of the device.
const (
	SuperOff = 1024
	SuperLen = 1024

	SuperInodesCount     = 0
	SuperBlocksCount     = 4
	SuperFreeBlocks      = 12
	SuperFreeInodes      = 16
	sFirstData           = 20
	SuperLogBlockSize    = 24
	sLogClusterSize      = 28
	SuperBlocksPerGroup  = 32
	SuperClustersPerGrp  = 36
	SuperInodesPerGroup  = 40
	SuperMountTime       = 44
	SuperWriteTime       = 48
	SuperMagic           = 56
	SuperState           = 58
	SuperRevLevel        = 76
	SuperFirstIno        = 84
	sInodeSize           = 88
	SuperFeatureCompat   = 92
	SuperFeatureIncompat = 96
	SuperFeatureROCompat = 100
	SuperUUID            = 104
	SuperReservedGDT     = 206
	sJournalUUID         = 208
	SuperJournalInum     = 224
	sJournalDev          = 228
	SuperLastOrphan      = 232
	sHashSeed            = 236
	sFlags               = 352
	sFirstMetaBG         = 260
	sMinExtraSize        = 348
	sWantExtraSize       = 350
	SuperJournalBackup   = 253 // s_jnl_backup_type, one byte
	SuperJournalBlocks   = 268 // s_jnl_blocks: the pointers of the journal's inode

	Magic = 0xef53

	oldFirstIno = 11 // of revision 0
)

var SuperFields = []Field{
	{FieldInodesCount, "inodes_count", SuperInodesCount, le32n},
	{FieldBlocksCount, "blocks_count", SuperBlocksCount, le32n},
	{fieldRBlocksCount, "r_blocks_count", 8, le32n},
	{FieldFreeBlocks, "free_blocks_count", SuperFreeBlocks, le32n},
	{FieldFreeInodes, "free_inodes_count", SuperFreeInodes, le32n},
	{fieldFirstData, "first_data_block", sFirstData, le32n},
	{fieldLogBlockSize, "log_block_size", SuperLogBlockSize, le32n},
	{fieldBlocksPerGroup, "blocks_per_group", SuperBlocksPerGroup, le32n},
	{fieldInodesPerGroup, "inodes_per_group", SuperInodesPerGroup, le32n},
	{0, "magic", SuperMagic, le16n},
	{fieldState, "state", SuperState, le16n},
	{fieldRevLevel, "rev_level", SuperRevLevel, le32n},
	{fieldFirstIno, "first_ino", SuperFirstIno, le32n},
	{fieldInodeSize, "inode_size", sInodeSize, le16n},
	{fieldFeatureCompat, "feature_compat", SuperFeatureCompat, le32n},
	{fieldFeatureIncompat, "feature_incompat", SuperFeatureIncompat, le32n},
	{fieldFeatureROCompat, "feature_ro_compat", SuperFeatureROCompat, le32n},
	{fieldReservedGDT, "reserved_gdt_blocks", SuperReservedGDT, le16n},
	{fieldJournalInum, "journal_inum", SuperJournalInum, le32n},
	{fieldLastOrphan, "last_orphan", SuperLastOrphan, le32n},
	{fieldMountTime, "mtime", SuperMountTime, le32n},
	{fieldCreatorOS, "creator_os", 72, le32n},
	{fieldJournalBackup, "jnl_backup_type", SuperJournalBackup, u8},
	{fieldDescSize, "desc_size", 254, le16n},
	{fieldBlocksCountHigh, "blocks_count_hi", 336, le32n},
	{fieldGroupsPerFlex, "log_groups_per_flex", 372, u8},
	{fieldErrorCount, "error_count", 404, le32n},
	{fieldUserQuota, "usr_quota_inum", 576, le32n},
	{fieldGroupQuota, "grp_quota_inum", 580, le32n},
	{fieldProjectQuota, "prj_quota_inum", 620, le32n},
	{fieldMinExtraSize, "min_extra_isize", sMinExtraSize, le16n},
	{fieldWantExtraSize, "want_extra_isize", sWantExtraSize, le16n},
}

// struct ext2_group_desc.
const (
	DescLen          = 32
	GroupBlockBitmap = 0
	GroupInodeBitmap = 4
	GroupInodeTable  = 8
	GroupFreeBlocks  = 12
	GroupFreeInodes  = 14
	GroupUsedDirs    = 16
)

var GroupFields = []Field{
	{fieldBlockBitmap, "block_bitmap", GroupBlockBitmap, le32n},
	{fieldInodeBitmap, "inode_bitmap", GroupInodeBitmap, le32n},
	{fieldInodeTable, "inode_table", GroupInodeTable, le32n},
	{FieldFreeBlocks, "free_blocks_count", GroupFreeBlocks, le16n},
	{FieldFreeInodes, "free_inodes_count", GroupFreeInodes, le16n},
	{FieldUsedDirs, "used_dirs_count", GroupUsedDirs, le16n},
	{fieldGroupFlags, "flags", 18, le16n},
	{fieldUnusedInodes, "itable_unused", 28, le16n},
}

// struct ext2_inode: the first 128 bytes of an inode, all that ext3 has.
const (
	InodeLen         = 128
	iMode            = 0
	iUID             = 2
	InodeSize        = 4
	InodeDtime       = 20
	iGID             = 24
	InodeLinks       = 26
	InodeBlocks      = 28
	iFlags           = 32
	InodeBlock       = 40
	InodeGeneration  = 100
	iFileACL         = 104
	InodeSizeHigh    = 108
	InodeFaddr       = 112
	InodeBlocksHigh  = 116
	InodeFileACLHigh = 118
	iUIDHigh         = 120
	iGIDHigh         = 122

	NDirect   = 12 // EXT2_NDIR_BLOCKS
	NPointers = 15 // EXT2_N_BLOCKS
)

// InodeFields lists what the alterer can set. The records of an inode are made by inodeValues, since
// several of them are parts of a field or span two.
var InodeFields = []Field{
	{fieldMode, "mode", iMode, le16n},
	{FieldUID, "uid", iUID, le16n},
	{FieldSize, "size", InodeSize, le32n},
	{FieldDtime, "dtime", InodeDtime, le32n},
	{FieldGID, "gid", iGID, le16n},
	{FieldLinks, "links_count", InodeLinks, le16n},
	{FieldBlocks, "blocks", InodeBlocks, le32n},
	{fieldFlags, "flags", iFlags, le32n},
	{0, "block0", InodeBlock, le32n}, {0, "block1", InodeBlock + 4, le32n}, {0, "block2", InodeBlock + 8, le32n}, {0, "block3", InodeBlock + 12, le32n},
	{0, "block4", InodeBlock + 16, le32n}, {0, "block5", InodeBlock + 20, le32n}, {0, "block6", InodeBlock + 24, le32n}, {0, "block7", InodeBlock + 28, le32n},
	{0, "block8", InodeBlock + 32, le32n}, {0, "block9", InodeBlock + 36, le32n}, {0, "block10", InodeBlock + 40, le32n}, {0, "block11", InodeBlock + 44, le32n},
	{0, "block12", InodeBlock + 48, le32n}, {0, "block13", InodeBlock + 52, le32n}, {0, "block14", InodeBlock + 56, le32n},
	{FieldGeneration, "generation", InodeGeneration, le32n},
	{FieldFileACL, "file_acl", iFileACL, le32n},
	{FieldSizeHigh, "size_high", InodeSizeHigh, le32n},
	{FieldFaddr, "faddr", InodeFaddr, le32n},
	{FieldBlocksHigh, "blocks_high", InodeBlocksHigh, le16n},
	{FieldFileACLHigh, "file_acl_high", InodeFileACLHigh, le16n},
}

// struct ext2_dir_entry_2; without the feature filetype, file_type says nothing.
const (
	DirInode     = 0
	DirRecLen    = 4
	DirNameLen   = 6
	DirFileType  = 7
	DirHeaderLen = 8
	DotLen       = 12 // of the entry ., which is followed by ..
)

var DirentFields = []Field{
	{FieldInode, "inode", DirInode, le32n},
	{0, "rec_len", DirRecLen, le16n},
	{0, "name_len", DirNameLen, u8},
	{FieldFileType, "file_type", DirFileType, u8},
}

// struct ext2_ext_attr_header.
const (
	XattrMagic    = 0xea020000
	XattrRefcount = 4
	XattrBlocks   = 8
	XattrHeader   = 32
)

var XattrFields = []Field{
	{FieldRefcount, "refcount", XattrRefcount, le32n},
}

func LE16(b []byte, off int) uint16 { return binary.LittleEndian.Uint16(b[off:]) }

func LE32(b []byte, off int) uint32 { return binary.LittleEndian.Uint32(b[off:]) }

func BE32(b []byte, off int) uint32 { return binary.BigEndian.Uint32(b[off:]) }

func Bit(b []byte, n uint32) bool { return b[n/8]>>(n%8)&1 != 0 }
