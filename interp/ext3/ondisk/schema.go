package ondisk

import (
	"slices"

	"fsward/change"
)

// The kinds of objects. In change/5 the kind takes the place of the tree.
const (
	KindSuperblock change.Kind = iota + 1
	KindGroup
	KindInode
	KindInodeBit
	KindBlock
	KindOwner
	KindXattrOwner
	KindXattrBlock
	KindDirent
	KindOrphan
)

// The fields of objects.
const (
	FieldInodesCount change.Field = iota + 1
	FieldBlocksCount
	fieldRBlocksCount
	FieldFreeBlocks
	FieldFreeInodes
	fieldFirstData
	fieldLogBlockSize
	fieldBlocksPerGroup
	fieldInodesPerGroup
	fieldState
	fieldRevLevel
	fieldFirstIno
	fieldInodeSize
	fieldFeatureCompat
	fieldFeatureIncompat
	fieldRecover
	fieldFeatureROCompat
	fieldJournalInum
	fieldLastOrphan
	fieldBlockBitmap
	fieldInodeBitmap
	fieldInodeTable
	FieldUsedDirs
	FieldGroup
	FieldInodeGroup
	FieldDirGroup
	fieldMode
	FieldType
	FieldPerm
	FieldUID
	FieldGID
	FieldSize
	FieldLinks
	FieldBlocks
	fieldFlags
	FieldFlagImmutable
	FieldFlagAppend
	FieldFlagIndex
	FieldFlagJournal
	FieldFlagOther
	FieldFileACL
	FieldGeneration
	FieldDtime
	FieldInode
	FieldFileType
	FieldRefcount
	FieldEnd
	FieldFaddr
	FieldBlocksHigh
	FieldFileACLHigh
	FieldSizeHigh
	fieldReservedGDT
	fieldGroupFlags
	fieldUnusedInodes
	FieldMtime
	fieldCreatorOS
	fieldJournalUUID
	fieldDescSize
	fieldBlocksCountHigh
	fieldHashFlags
	fieldGroupsPerFlex
	fieldErrorCount
	fieldUserQuota
	fieldGroupQuota
	fieldProjectQuota
	fieldMinExtraSize
	fieldWantExtraSize
	fieldJournalBackup
	fieldHashSeedLow
	fieldHashSeedHigh
	FieldLength
	FieldAtime
	FieldCtime
	fieldWriteTime
)

// The words: the file types, by the names that stat(2) gives them, in the order of the types in
// directory entries (EXT2_FT_*), so that a type's word is wordType+type.
const (
	wordType change.WordID = change.WordPresent + 1 // of type 0, unknown
)

// InodeRecordFields are the fields of an inode that change records have.
var InodeRecordFields = []change.Field{
	FieldType, FieldPerm, FieldUID, FieldGID, FieldSize, FieldLinks, FieldBlocks,
	FieldFlagImmutable, FieldFlagAppend, FieldFlagIndex, FieldFlagJournal, FieldFlagOther,
	FieldFileACL, FieldGeneration, FieldDtime, FieldDirGroup, FieldFaddr, FieldBlocksHigh,
	FieldFileACLHigh, FieldSizeHigh,
}

// inodeQueryFields are the fields of an inode that can only be queried. The times change with
// almost every write, and would add a record for each.
var inodeQueryFields = []change.Field{FieldEnd, FieldAtime, FieldCtime, FieldMtime}

// SuperRecordFields are the fields of the superblock that change records have.
var SuperRecordFields = slices.DeleteFunc(SuperLayout.recorded(fieldRecover, fieldHashFlags,
	fieldJournalUUID, fieldHashSeedLow, fieldHashSeedHigh),
	func(f change.Field) bool { return f == fieldWriteTime })

var schema = describe(&change.Schema{
	FS:         "ext3",
	KindIsTree: true,
	Kinds: []change.KindInfo{
		{},
		{Name: "superblock", Shape: change.ShapeNum, Fields: append(slices.Clone(SuperRecordFields),
			fieldWriteTime),
			Doc: "superblock(0): the primary superblock. f(flags,hash): the bits of flags that select" +
				" signed or unsigned characters for the hashes of names. hash_seed has 16 bytes," +
				" in two halves"},
		{Name: "group", Shape: change.ShapeNum, Fields: GroupLayout.recorded(FieldBlocksCount,
			FieldInodesCount),
			Doc: "group(NUMBER): a block group with blocks_count blocks and inodes_count inodes. If its" +
				" bitmaps changed, its counts have records even if they did not change"},
		{Name: "inode", Shape: change.ShapeNum,
			Fields: slices.Concat(InodeRecordFields, inodeQueryFields),
			Doc: "inode(NUMBER): an inode with links, or an inode that the inode bitmap marks as used and" +
				" whose mode is not 0. The latter is open without a name: links_count is 0, and dtime is" +
				" the number of the next such inode. If the directory entries of an inode changed," +
				" links_count has a record even if it did not change; if its pointers changed, blocks" +
				" has one. dir_group: the number of the group of a directory that is marked as used." +
				" size_high: not for files; it has no meaning for other inodes. faddr, blocks_high and" +
				" file_acl_high have no meaning in ext3. end: the number of blocks up to the last mapped" +
				" one, holes included. end and the times can only be queried"},
		{Name: "inode_bit", Shape: change.ShapeNum, Fields: []change.Field{FieldInodeGroup},
			Doc: "inode_bit(NUMBER): an inode that the inode bitmap of the group inode_group marks as used"},
		{Name: "block", Shape: change.ShapeNums, Fields: []change.Field{FieldGroup},
			Doc: "a(BLOCK,LENGTH): the block bitmap of a group marks LENGTH blocks from BLOCK on as used." +
				" Records have ranges as owner has. query(block,a(BLOCK,1)) asks for one block"},
		{Name: "owner", Shape: change.ShapePair, Fields: []change.Field{FieldLength},
			Group: "owners of one block", KeyGroup: "owners of one block",
			Doc: "k(BLOCK,owner,a(INODE,POSITION)): a pointer of an inode to a block, and length-1 more" +
				" pointers to the blocks after it. POSITION is the number of the block in the file. For" +
				" an indirect block it is its level times 2^40 plus the number of the first block below" +
				" it, and length is 1. The ranges in the records of a commit are as long as possible, but" +
				" two ranges of owner or block have all their blocks in common or none; a block of an" +
				" xattr_owner is a range of its own. INODE 0 owns the superblocks, group descriptors," +
				" bitmaps and inode tables, each at the position of its own number (in the check of a" +
				" whole image, and in a file system that grows)"},
		{Name: "xattr_owner", Shape: change.ShapeNums, Group: "files of one xattr block",
			Doc: "a(BLOCK,INODE): i_file_acl of INODE names the extended attribute block; several inodes" +
				" may share one"},
		{Name: "xattr_block", Shape: change.ShapeNum, Fields: []change.Field{FieldRefcount},
			Doc: "xattr_block(NUMBER): an extended attribute block"},
		{Name: "dirent", Shape: change.ShapeNamed, Fields: []change.Field{FieldInode, FieldFileType},
			Group: "entries of one directory",
			Doc: "a(DIRECTORY,'name'): an entry of a directory that has links, . and .. included, at any" +
				" place in the directory. If only its file_type changed, its inode has a record too"},
		{Name: "orphan", Shape: change.ShapeNum,
			Doc: "orphan(NUMBER): an inode on the list of inodes to be deleted or truncated. The list" +
				" begins with last_orphan and continues with dtime"},
	},
	Fields: []string{
		"object", "inodes_count", "blocks_count", "r_blocks_count", "free_blocks_count",
		"free_inodes_count", "first_data_block", "log_block_size", "blocks_per_group",
		"inodes_per_group", "state", "rev_level", "first_ino", "inode_size", "feature_compat",
		"feature_incompat", "f(feature_incompat,recover)", "feature_ro_compat", "journal_inum",
		"last_orphan", "block_bitmap", "inode_bitmap", "inode_table", "used_dirs_count", "group",
		"inode_group", "dir_group", "mode", "f(mode,s_ifmt)", "f(mode,perm)", "uid", "gid", "size",
		"links_count", "blocks", "flags", "f(flags,immutable)", "f(flags,append)",
		"f(flags,index)", "f(flags,journal_data)", "f(flags,other)", "file_acl", "generation",
		"dtime", "inode", "file_type", "refcount", "end", "faddr", "blocks_high",
		"file_acl_high", "size_high", "reserved_gdt_blocks", "flags", "itable_unused", "mtime",
		"creator_os", "journal_uuid", "desc_size", "blocks_count_hi", "f(flags,hash)",
		"log_groups_per_flex", "error_count", "usr_quota_inum", "grp_quota_inum",
		"prj_quota_inum", "min_extra_isize", "want_extra_isize", "jnl_backup_type",
		"f(hash_seed,low)", "f(hash_seed,high)", "length", "atime", "ctime", "wtime",
	},
	Words: []string{"present", "s_unknown", "s_ifreg", "s_ifdir", "s_ifchr", "s_ifblk", "s_ififo",
		"s_ifsock", "s_iflnk"},
}, map[change.Kind][]change.Field{KindSuperblock: {fieldWriteTime}, KindInode: inodeQueryFields})

// Schema names the numbers in the records of ext3. The caller must not change it.
func Schema() *change.Schema { return schema }
