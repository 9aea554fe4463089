package ondisk

import "fsward/change"

// ItemType declares what items of a key type are: their objects, the structure at their start, and
// the trees in which they may stand.
type ItemType struct {
	Type   uint8
	Name   string
	Shape  change.Shape
	Trees  treeSet
	Layout *Structure // of the fixed part at the start of the item; nil if this version does not look inside
	Extra  []change.Field
	Doc    string
}

// ItemTypes is indexed by Kind. Some versions of mkfs gave the uuid tree a root directory of its
// own.
var ItemTypes = [KindCount]ItemType{
	KindFreeSpaceHeader: {FreeSpaceHeaderKey, "free_space_header", change.ShapeKey, InRoot | InFile, &FreeSpaceHeaderLayout, nil, "header of a v1 free space cache"},
	KindInodeItem:       {InodeItemKey, "inode_item", change.ShapeKey, InRoot | InFile | InUUID | InLog, &InodeItemLayout, nil, "an inode"},
	KindInodeRef: {InodeRefKey, "inode_ref", change.ShapePair, InRoot | InFile | InUUID | InLog, &InodeRefLayout, []change.Field{FieldName, FieldLink},
		"a name of an inode: k(INODE, inode_ref, a(PARENT, INDEX))"},
	KindInodeExtref: {InodeExtrefKey, "inode_extref", change.ShapePair, InFile | InLog, &InodeExtrefLayout, []change.Field{FieldName, FieldLink},
		"a name of an inode with many names: k(INODE, inode_extref, a(PARENT, INDEX))"},
	KindXattrItem:    {XattrItemKey, "xattr_item", change.ShapeKey, InRoot | InFile | InLog, &DirItemLayout, []change.Field{FieldName}, "an extended attribute: k(INODE, xattr_item, HASH)"},
	KindVerityDesc:   {VerityDescKey, "verity_desc_item", change.ShapeKey, InFile, nil, sizeOnly, "fs-verity descriptor"},
	KindVerityMerkle: {VerityMerkleKey, "verity_merkle_item", change.ShapeKey, InFile, nil, sizeOnly, "fs-verity Merkle tree"},
	KindOrphanItem:   {OrphanItemKey, "orphan_item", change.ShapeKey, InRoot | InFile, nil, nil, "an inode or tree without a name: k(-5, orphan_item, ID)"},
	KindDirLogItem:   {DirLogItemKey, "dir_log_item", change.ShapeKey, InLog, &DirLogLayout, nil, "hashes of a directory that a log has all entries of: k(DIR, dir_log_item, FIRST)"},
	KindDirLogIndex:  {DirLogIndexKey, "dir_log_index", change.ShapeKey, InLog, &DirLogLayout, nil, "indexes of a directory that a log has all entries of: k(DIR, dir_log_index, FIRST)"},
	KindDirItem:      {DirItemKey, "dir_item", change.ShapeKey, InRoot | InFile | InLog, &DirItemLayout, []change.Field{FieldName, FieldLink}, "a directory entry by hash: k(DIR, dir_item, HASH)"},
	KindDirIndex:     {DirIndexKey, "dir_index", change.ShapeKey, InRoot | InFile | InLog, &DirItemLayout, []change.Field{FieldName, FieldLink}, "a directory entry by index: k(DIR, dir_index, INDEX)"},
	KindExtentData:   {ExtentDataKey, "extent_data", change.ShapeKey, InRoot | InFile | InLog, &FileExtentLayout, []change.Field{FieldNBytes, FieldEndOffset, FieldBackref, FieldLeaf}, "data of a file: k(INODE, extent_data, OFFSET)"},
	KindExtentCsum:   {ExtentCsumKey, "extent_csum", change.ShapeKey, InCsum | InLog, nil, []change.Field{FieldNSums}, "checksums of data: k(-10, extent_csum, BYTENR)"},
	KindRootItem:     {RootItemKey, "root_item", change.ShapeKey, InRoot | InLog, &RootItemLayout, nil, "a tree: k(TREE, root_item, OFFSET)"},
	KindRootBackref:  {RootBackrefKey, "root_backref", change.ShapeKey, InRoot, &RootRefLayout, []change.Field{FieldName, FieldLink}, "a subvolume's parent: k(TREE, root_backref, PARENT)"},
	KindRootRef:      {RootRefKey, "root_ref", change.ShapeKey, InRoot, &RootRefLayout, []change.Field{FieldName, FieldLink}, "a tree's subvolume: k(PARENT, root_ref, TREE)"},
	KindExtentItem:   {ExtentItemKey, "extent_item", change.ShapeKey, InExtent, &ExtentItemLayout, []change.Field{FieldFullBackref, FieldLevel, FieldChunk}, "an extent in use: k(BYTENR, extent_item, LENGTH)"},
	KindMetadataItem: {MetadataItemKey, "metadata_item", change.ShapeKey, InExtent, &ExtentItemLayout, []change.Field{FieldFullBackref, FieldLevel, FieldChunk}, "a metadata block in use, nodesize long: k(BYTENR, metadata_item, LEVEL)"},
	KindExtentOwnerRef: {ExtentOwnerRefKey, "extent_owner_ref", change.ShapeKey, 0, nil, []change.Field{FieldRoot},
		"the tree that made an extent, kept by simple quotas: k(BYTENR, extent_owner_ref, ROOT)"},
	KindTreeBlockRef: {TreeBlockRefKey, "tree_block_ref", change.ShapeKey, InExtent, nil, []change.Field{FieldRoot}, "a tree that owns a block: k(BYTENR, tree_block_ref, ROOT)"},
	KindExtentDataRef: {ExtentDataRefKey, "extent_data_ref", change.ShapeKey, InExtent, &ExtentDataRefLayout, nil,
		"a file that uses an extent: k(BYTENR, extent_data_ref, HASH)"},
	KindSharedBlockRef:  {SharedBlockRefKey, "shared_block_ref", change.ShapeKey, InExtent, nil, []change.Field{FieldParent}, "a block that points to a block: k(BYTENR, shared_block_ref, PARENT)"},
	KindSharedDataRef:   {SharedDataRefKey, "shared_data_ref", change.ShapeKey, InExtent, &SharedDataRefLayout, []change.Field{FieldParent}, "a leaf that uses an extent: k(BYTENR, shared_data_ref, PARENT)"},
	KindBlockGroupItem:  {BlockGroupItemKey, "block_group_item", change.ShapeKey, InExtent | InBlockGroup, &BlockGroupLayout, nil, "a block group: k(START, block_group_item, LENGTH)"},
	KindFreeSpaceInfo:   {FreeSpaceInfoKey, "free_space_info", change.ShapeKey, InFreeSpace, &FreeSpaceInfoLayout, nil, "free space of a block group: k(START, free_space_info, LENGTH)"},
	KindFreeSpaceExtent: {FreeSpaceExtentKey, "free_space_extent", change.ShapeKey, InFreeSpace, nil, []change.Field{FieldChunk}, "free space: k(START, free_space_extent, LENGTH)"},
	KindFreeSpaceBitmap: {FreeSpaceBitmapKey, "free_space_bitmap", change.ShapeKey, InFreeSpace, nil, []change.Field{FieldSize, FieldFree, FieldFirst, FieldLast, FieldChunk},
		"free space as bits: k(START, free_space_bitmap, LENGTH); free is how many are set, first and last are the outermost"},
	KindDevExtent:      {DevExtentKey, "dev_extent", change.ShapeKey, InDev, &DevExtentLayout, nil, "space of a device in use: k(DEVICE, dev_extent, START)"},
	KindDevItem:        {DevItemKey, "dev_item", change.ShapeKey, InChunk, &DevItemLayout, nil, "a device: k(1, dev_item, DEVICE)"},
	KindChunkItem:      {ChunkItemKey, "chunk_item", change.ShapeKey, InChunk, &ChunkLayout, nil, "a chunk: k(256, chunk_item, LOGICAL)"},
	KindQgroupStatus:   {QgroupStatusKey, "qgroup_status", change.ShapeKey, InQuota, &QgroupStatusLayout, nil, "state of quota: k(0, qgroup_status, 0)"},
	KindQgroupInfo:     {QgroupInfoKey, "qgroup_info", change.ShapeKey, InQuota, &QgroupInfoLayout, nil, "use of a quota group: k(0, qgroup_info, QGROUP)"},
	KindQgroupLimit:    {QgroupLimitKey, "qgroup_limit", change.ShapeKey, InQuota, &QgroupLimitLayout, nil, "limits of a quota group: k(0, qgroup_limit, QGROUP)"},
	KindQgroupRelation: {QgroupRelationKey, "qgroup_relation", change.ShapeKey, InQuota, nil, nil, "a quota group and a member of it, written both ways: k(QGROUP, qgroup_relation, QGROUP)"},
	KindTemporaryItem:  {TemporaryItemKey, "temporary_item", change.ShapeKey, InRoot, nil, sizeOnly, "state of a running balance"},
	KindPersistentItem: {PersistentItemKey, "persistent_item", change.ShapeKey, InDev, nil, sizeOnly, "device statistics"},
	KindDevReplace:     {DevReplaceKey, "dev_replace", change.ShapeKey, InDev, nil, sizeOnly, "state of a device replacement"},
	KindUUIDSubvol:     {UUIDSubvolKey, "uuid_key_subvol", change.ShapeKey, InUUID, nil, []change.Field{FieldRoot}, "a subvolume with a UUID: k(FIRST, uuid_key_subvol, SECOND), the halves of the UUID"},
	KindUUIDReceived:   {UUIDReceivedKey, "uuid_key_received_subvol", change.ShapeKey, InUUID, nil, []change.Field{FieldRoot}, "a received subvolume with a UUID of where it came from"},
	KindSuperBlock: {0, "super_block", change.ShapeKey, 0, &SuperLayout, []change.Field{FieldLogOf},
		"the superblock: k(0, super_block, 0) of tree 0; while a log is judged, log_of is the subvolume that it is of"},
	KindTreeBlock: {0, "tree_block", change.ShapeKey, 0, nil, []change.Field{FieldParent, FieldOwner, FieldLevel},
		"a tree leads to a block: k(BLOCK, tree_block, TREE) of tree -1, with the block that points to it (0: none) and that one's owner; only where all is known"},
	KindBlockPointers: {0, "block_pointers", change.ShapeKey, 0, nil, []change.Field{FieldCount},
		"how often a block points to a block or extent: k(BLOCK, block_pointers, BYTENR) of tree -1, where BLOCK is known"},
	KindChunkStripe: {ChunkItemKey, "chunk_stripe", change.ShapePair, InChunk, nil, []change.Field{FieldDevID, FieldOffset},
		"where a copy or part of a chunk lies: k(256, chunk_stripe, a(LOGICAL, N)) of tree 3, N from 0"},
	KindFreeSpaceRun: {FreeSpaceBitmapKey, "free_space_run", change.ShapePair, InFreeSpace, nil, []change.Field{FieldEndOffset, FieldChunk},
		"bits of a free_space_bitmap that are set and next to each other: k(BITMAP, free_space_run, a(LENGTH, FROM)), with the key of the bitmap, FROM and end as addresses"},
	KindBlock: {0, "block", change.ShapeKey, 0, nil, []change.Field{FieldLevel, FieldOwner, FieldGeneration, FieldReloc},
		"a block of metadata that can be read, and what its header says: k(BLOCK, block, 0) of tree -1"},
	KindFreeSpace: {0, "free_space", change.ShapeKey, 0, nil, nil,
		"a part of LENGTH bytes from START is free: k(START, free_space, LENGTH) of tree -1, by the tree of free space"},
}

var sizeOnly = []change.Field{FieldSize}
