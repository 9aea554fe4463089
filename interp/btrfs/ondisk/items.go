package ondisk

import "fsward/change"

// ItemType declares the items of one key type: their objects, the structure at their start, and
// the trees in which they may stand.
type ItemType struct {
	Type   uint8
	Name   string
	Shape  change.Shape
	Trees  treeSet
	Layout *Structure // of the fixed part at the start of the item; nil if fsward does not decode it
	Extra  []change.Field
	Doc    string
}

// ItemTypes is indexed by kind. The uuid tree may hold an inode_item and an inode_ref, because some
// versions of mkfs give it a root directory.
var ItemTypes = [KindCount]ItemType{
	KindFreeSpaceHeader: {FreeSpaceHeaderKey, "free_space_header", change.ShapeKey, InRoot | InFile,
		&FreeSpaceHeaderLayout, nil, "the header of a v1 free space cache"},
	KindInodeItem: {InodeItemKey, "inode_item", change.ShapeKey, InRoot | InFile | InUUID | InLog,
		&InodeItemLayout, nil, "an inode"},
	KindInodeRef: {InodeRefKey, "inode_ref", change.ShapePair, InRoot | InFile | InUUID | InLog,
		&InodeRefLayout, nameAndLink, "a name of an inode: k(INODE, inode_ref, a(PARENT, INDEX))"},
	KindInodeExtref: {InodeExtrefKey, "inode_extref", change.ShapePair, InFile | InLog,
		&InodeExtrefLayout, nameAndLink,
		"a name of an inode with many names: k(INODE, inode_extref, a(PARENT, INDEX))"},
	KindXattrItem: {XattrItemKey, "xattr_item", change.ShapeKey, InRoot | InFile | InLog,
		&DirItemLayout, fields(FieldName), "an extended attribute: k(INODE, xattr_item, HASH)"},
	KindVerityDesc: {VerityDescKey, "verity_desc_item", change.ShapeKey, InFile,
		nil, sizeOnly, "an fs-verity descriptor"},
	KindVerityMerkle: {VerityMerkleKey, "verity_merkle_item", change.ShapeKey, InFile,
		nil, sizeOnly, "a part of an fs-verity Merkle tree"},
	KindOrphanItem: {OrphanItemKey, "orphan_item", change.ShapeKey, InRoot | InFile,
		nil, nil, "an inode or tree without a name: k(-5, orphan_item, ID)"},
	KindDirLogItem: {DirLogItemKey, "dir_log_item", change.ShapeKey, InLog,
		&DirLogLayout, nil,
		"a range of hashes for which a log has all entries of a directory: k(DIR, dir_log_item, FIRST)"},
	KindDirLogIndex: {DirLogIndexKey, "dir_log_index", change.ShapeKey, InLog,
		&DirLogLayout, nil,
		"a range of indexes for which a log has all entries of a directory: " +
			"k(DIR, dir_log_index, FIRST)"},
	KindDirItem: {DirItemKey, "dir_item", change.ShapeKey, InRoot | InFile | InLog,
		&DirItemLayout, nameAndLink, "a directory entry by hash: k(DIR, dir_item, HASH)"},
	KindDirIndex: {DirIndexKey, "dir_index", change.ShapeKey, InRoot | InFile | InLog,
		&DirItemLayout, nameAndLink, "a directory entry by index: k(DIR, dir_index, INDEX)"},
	KindExtentData: {ExtentDataKey, "extent_data", change.ShapeKey, InRoot | InFile | InLog,
		&FileExtentLayout, fields(FieldNBytes, FieldEndOffset, FieldBackref, FieldLeaf),
		"data of a file: k(INODE, extent_data, OFFSET)"},
	KindExtentCsum: {ExtentCsumKey, "extent_csum", change.ShapeKey, InCsum | InLog,
		nil, fields(FieldNSums), "checksums of data: k(-10, extent_csum, BYTENR)"},
	KindRootItem: {RootItemKey, "root_item", change.ShapeKey, InRoot | InLog,
		&RootItemLayout, nil, "a tree: k(TREE, root_item, OFFSET)"},
	KindRootBackref: {RootBackrefKey, "root_backref", change.ShapeKey, InRoot,
		&RootRefLayout, nameAndLink, "the parent of a subvolume: k(TREE, root_backref, PARENT)"},
	KindRootRef: {RootRefKey, "root_ref", change.ShapeKey, InRoot,
		&RootRefLayout, nameAndLink, "a subvolume in a tree: k(PARENT, root_ref, TREE)"},
	KindExtentItem: {ExtentItemKey, "extent_item", change.ShapeKey, InExtent,
		&ExtentItemLayout, fields(FieldFullBackref, FieldLevel, FieldChunk),
		"an extent in use: k(BYTENR, extent_item, LENGTH)"},
	KindMetadataItem: {MetadataItemKey, "metadata_item", change.ShapeKey, InExtent,
		&ExtentItemLayout, fields(FieldFullBackref, FieldLevel, FieldChunk),
		"a metadata block in use, of nodesize bytes: k(BYTENR, metadata_item, LEVEL)"},
	KindExtentOwnerRef: {ExtentOwnerRefKey, "extent_owner_ref", change.ShapeKey, 0,
		nil, rootOnly,
		"the tree that allocated an extent, under simple quotas: k(BYTENR, extent_owner_ref, ROOT)"},
	KindTreeBlockRef: {TreeBlockRefKey, "tree_block_ref", change.ShapeKey, InExtent,
		nil, rootOnly, "a tree that owns a block: k(BYTENR, tree_block_ref, ROOT)"},
	KindExtentDataRef: {ExtentDataRefKey, "extent_data_ref", change.ShapeKey, InExtent,
		&ExtentDataRefLayout, nil, "a file that uses an extent: k(BYTENR, extent_data_ref, HASH)"},
	KindSharedBlockRef: {SharedBlockRefKey, "shared_block_ref", change.ShapeKey, InExtent,
		nil, parentOnly, "a block that points to a block: k(BYTENR, shared_block_ref, PARENT)"},
	KindSharedDataRef: {SharedDataRefKey, "shared_data_ref", change.ShapeKey, InExtent,
		&SharedDataRefLayout, parentOnly,
		"a leaf that uses an extent: k(BYTENR, shared_data_ref, PARENT)"},
	KindBlockGroupItem: {BlockGroupItemKey, "block_group_item", change.ShapeKey,
		InExtent | InBlockGroup, &BlockGroupLayout, nil,
		"a block group: k(START, block_group_item, LENGTH)"},
	KindFreeSpaceInfo: {FreeSpaceInfoKey, "free_space_info", change.ShapeKey, InFreeSpace,
		&FreeSpaceInfoLayout, nil,
		"a summary of the free space of a block group: k(START, free_space_info, LENGTH)"},
	KindFreeSpaceExtent: {FreeSpaceExtentKey, "free_space_extent", change.ShapeKey, InFreeSpace,
		nil, fields(FieldChunk), "a free extent: k(START, free_space_extent, LENGTH)"},
	KindFreeSpaceBitmap: {FreeSpaceBitmapKey, "free_space_bitmap", change.ShapeKey, InFreeSpace,
		nil, fields(FieldSize, FieldFree, FieldFirst, FieldLast, FieldChunk),
		"a bitmap of free space: k(START, free_space_bitmap, LENGTH); free counts the set bits, first " +
			"and last are the outermost bits"},
	KindDevExtent: {DevExtentKey, "dev_extent", change.ShapeKey, InDev,
		&DevExtentLayout, nil, "an allocated range of a device: k(DEVICE, dev_extent, START)"},
	KindDevItem: {DevItemKey, "dev_item", change.ShapeKey, InChunk,
		&DevItemLayout, nil, "a device: k(1, dev_item, DEVICE)"},
	KindChunkItem: {ChunkItemKey, "chunk_item", change.ShapeKey, InChunk,
		&ChunkLayout, nil, "a chunk: k(256, chunk_item, LOGICAL)"},
	KindQgroupStatus: {QgroupStatusKey, "qgroup_status", change.ShapeKey, InQuota,
		&QgroupStatusLayout, nil, "the state of quotas: k(0, qgroup_status, 0)"},
	KindQgroupInfo: {QgroupInfoKey, "qgroup_info", change.ShapeKey, InQuota,
		&QgroupInfoLayout, nil, "the usage of a quota group: k(0, qgroup_info, QGROUP)"},
	KindQgroupLimit: {QgroupLimitKey, "qgroup_limit", change.ShapeKey, InQuota,
		&QgroupLimitLayout, nil, "the limits of a quota group: k(0, qgroup_limit, QGROUP)"},
	KindQgroupRelation: {QgroupRelationKey, "qgroup_relation", change.ShapeKey, InQuota,
		nil, nil,
		"a quota group and a member, stored in both orders: k(QGROUP, qgroup_relation, QGROUP)"},
	KindTemporaryItem: {TemporaryItemKey, "temporary_item", change.ShapeKey, InRoot,
		nil, sizeOnly, "the state of a running balance"},
	KindPersistentItem: {PersistentItemKey, "persistent_item", change.ShapeKey, InDev,
		nil, sizeOnly, "statistics of a device"},
	KindDevReplace: {DevReplaceKey, "dev_replace", change.ShapeKey, InDev,
		nil, sizeOnly, "the state of a device replacement"},
	KindUUIDSubvol: {UUIDSubvolKey, "uuid_key_subvol", change.ShapeKey, InUUID,
		nil, rootOnly,
		"a subvolume by its UUID: k(FIRST, uuid_key_subvol, SECOND), the halves of the UUID"},
	KindUUIDReceived: {UUIDReceivedKey, "uuid_key_received_subvol", change.ShapeKey, InUUID,
		nil, rootOnly,
		"a received subvolume by the UUID of its source: k(FIRST, uuid_key_received_subvol, SECOND)"},
	KindSuperBlock: {0, "super_block", change.ShapeKey, 0,
		&SuperLayout, fields(FieldLogOf),
		"the superblock: k(0, super_block, 0) of tree 0; log_of is the subvolume whose log is " +
			"checked, and absent otherwise"},
	KindTreeBlock: {0, "tree_block", change.ShapeKey, 0,
		nil, fields(FieldParent, FieldOwner, FieldLevel),
		"a block that a tree reaches: k(BLOCK, tree_block, TREE) of tree -1; parent is the block that " +
			"points to it, or 0, and owner is the owner of that block; only look-ups by full key answer"},
	KindBlockPointers: {0, "block_pointers", change.ShapeKey, 0,
		nil, fields(FieldCount),
		"the number of pointers from a block to a block or extent: " +
			"k(BLOCK, block_pointers, BYTENR) of tree -1; only look-ups that name BLOCK answer"},
	KindChunkStripe: {ChunkItemKey, "chunk_stripe", change.ShapePair, InChunk,
		nil, fields(FieldDevID, FieldOffset),
		"the place of a stripe of a chunk: k(256, chunk_stripe, a(LOGICAL, N)) of tree 3, N from 0"},
	KindFreeSpaceRun: {FreeSpaceBitmapKey, "free_space_run", change.ShapePair, InFreeSpace,
		nil, fields(FieldEndOffset, FieldChunk),
		"a run of set bits in a free_space_bitmap: k(BITMAP, free_space_run, a(LENGTH, FROM)), where " +
			"BITMAP and LENGTH are those of the bitmap; FROM and end are addresses"},
	KindBlock: {0, "block", change.ShapeKey, 0,
		nil, fields(FieldLevel, FieldOwner, FieldGeneration, FieldReloc),
		"a readable metadata block with members of its header: k(BLOCK, block, 0) of tree -1"},
	KindFreeSpace: {0, "free_space", change.ShapeKey, 0,
		nil, nil,
		"a range with free bytes according to the free space tree: " +
			"k(START, free_space, LENGTH) of tree -1"},
}

var (
	nameAndLink = fields(FieldName, FieldLink)
	parentOnly  = fields(FieldParent)
	rootOnly    = fields(FieldRoot)
	sizeOnly    = fields(FieldSize)
)

func fields(list ...change.Field) []change.Field { return list }
