package btrfs_test

import "fsward/interp/btrfs/ondisk"

// Offsets of an alteration below 0 are in the header of the item, at off-itemHeader.
const (
	itemHeader  = -1000
	keyObjectID = itemHeader + ondisk.DiskKeyObjectIDAt
	keyOffset   = itemHeader + ondisk.DiskKeyOffsetAt
)

// inlineRef is the offset behind the type of the first back reference in an extent item.
const inlineRef = ondisk.ExtentItemSize + ondisk.ExtentInlineRefOffsetAt

// An alteration changes one number in the first item of a type in a tree.
type alteration struct {
	off, width int // bytes in the item's data
	value      uint64
	want       string // in the detail of the violation
}

const far = 1 << 40 // exceeds every generation

func isInline(extent []byte) bool {
	return extent[ondisk.FileExtentTypeAt] == ondisk.ExtentInline
}

func isRegular(extent []byte) bool { return extent[ondisk.FileExtentTypeAt] == 1 }

func isDataChunk(chunk []byte) bool { return chunk[ondisk.ChunkTypeAt] == ondisk.GroupData }

// alterations are grouped by tree and key type, in the order of docs/dev/tree-checker.md.
var alterations = []struct {
	tree  uint64
	typ   byte
	with  func(data []byte) bool // alter the first item for which it is true; nil: the first item
	which []alteration
}{
	// inode_item: the first is a directory
	{ondisk.FSTreeID, ondisk.InodeItemKey, nil, []alteration{
		{ondisk.InodeItemGenerationAt, 8, far, "generation is"},
		{ondisk.InodeItemTransIDAt, 8, far, "transid is"},
		{ondisk.InodeItemModeAt, 4, 0o240755, "mode is"},
		{ondisk.InodeItemModeAt, 4, 0o755, "mode of"},
		{ondisk.InodeItemModeAt, 4, 0o030755, "mode of"},
		{ondisk.InodeItemNLinkAt, 4, 2, "nlink of a directory"},
		{ondisk.InodeItemFlagsAt, 8, 1 << 20, "flags is"},
		{ondisk.InodeItemFlagsAt, 8, 1 << 33, "flags is"},
		{keyObjectID, 8, 7, "no inode number"},
		{keyOffset, 8, 1, "key offset is 1"},
	}},
	{ondisk.FSTreeID, ondisk.InodeRefKey, nil, []alteration{
		{ondisk.InodeRefSize, 1, 'x', "in itself"},
		{ondisk.InodeRefNameLenAt, 2, 0, "name_len is 0"},
		{ondisk.InodeRefNameLenAt, 2, 256, "name_len is 256"},
		{ondisk.InodeRefNameLenAt, 2, 200, "beyond the end"},
	}},
	// dir_item
	{ondisk.FSTreeID, ondisk.DirItemKey, nil, []alteration{
		{ondisk.DirItemTypeAt, 1, 0, "type of btrfs_dir_item is 0"},
		{ondisk.DirItemTypeAt, 1, 8, "type of btrfs_dir_item is 8"},
		{ondisk.DirItemTypeAt, 1, 9, "type of btrfs_dir_item is 9"},
		{ondisk.DirItemLocationAt + ondisk.DiskKeyTypeAt, 1, 2, "leads to"},
		{ondisk.DirItemLocationAt, 8, 3, "leads to"},
		{ondisk.DirItemLocationAt + ondisk.DiskKeyOffsetAt, 8, 1, "leads to"},
		{ondisk.DirItemDataLenAt, 2, 1, "data_len is 1"},
		{ondisk.DirItemNameLenAt, 2, 0, "name_len is 0"},
		{ondisk.DirItemNameLenAt, 2, 256, "name_len is 256"},
		{ondisk.DirItemSize, 1, 0, "the hash of its name"},
	}},
	// inline
	{ondisk.FSTreeID, ondisk.ExtentDataKey, isInline, []alteration{
		{ondisk.FileExtentGenerationAt, 8, far, "generation is"},
		{ondisk.FileExtentRAMBytesAt, 8, 3, "ram_bytes is 3"},
		{ondisk.FileExtentCompressionAt, 1, 4, "compression is 4"},
		{ondisk.FileExtentEncryptionAt, 1, 1, "encryption is 1"},
		{ondisk.FileExtentOtherEncodingAt, 2, 1, "other_encoding is 1"},
		{ondisk.FileExtentTypeAt, 1, 3, "type is 3"},
		{ondisk.FileExtentTypeAt, 1, 1, "bytes, want 53"},
		{keyOffset, 8, 4096, "inline data at file offset"},
	}},
	{ondisk.FSTreeID, ondisk.ExtentDataKey, isRegular, []alteration{
		{ondisk.FileExtentRAMBytesAt, 8, 5000, "ram_bytes is 5000, not a multiple"},
		{ondisk.FileExtentDiskBytenrAt, 8, 4097, "disk_bytenr is 4097, not"},
		{ondisk.FileExtentDiskNumBytesAt, 8, 5000, "disk_num_bytes is 5000, not"},
		{ondisk.FileExtentOffsetAt, 8, 5, "offset is 5, not"},
		{ondisk.FileExtentNumBytesAt, 8, 5, "num_bytes is 5, not"},
		{ondisk.FileExtentNumBytesAt, 8, 0, "num_bytes is 0"},
		{ondisk.FileExtentNumBytesAt, 8, 1 << 30, "beyond ram_bytes"},
		{ondisk.FileExtentRAMBytesAt, 8, 0, "beyond ram_bytes 0"},
		{ondisk.FileExtentDiskNumBytesAt, 8, 0, "beyond disk_num_bytes 0"},
		{keyOffset, 8, 1, "file offset 1 is not a multiple"},
	}},
	{ondisk.CsumTreeID, ondisk.ExtentCsumKey, nil, []alteration{
		{keyObjectID, 8, 5, "objectid of an extent_csum is 5"},
		{keyOffset, 8, 4097, "not a multiple of sectorsize"},
	}},
	// root_item: the first is that of the extent tree
	{ondisk.RootTreeID, ondisk.RootItemKey, nil, []alteration{
		{ondisk.RootItemGenerationAt, 8, far, "generation is"},
		{ondisk.RootItemLastSnapshotAt, 8, far, "last_snapshot is"},
		{ondisk.RootItemGenerationV2At, 8, far, "generation_v2 is"},
		{ondisk.RootItemBytenrAt, 8, 4097, "bytenr is 4097"},
		{ondisk.RootItemLevelAt, 1, 8, "level is 8"},
		{ondisk.RootItemDropLevelAt, 1, 8, "drop_level is 8"},
		{ondisk.RootItemFlagsAt, 8, 2, "flags is 0x2"},
		{ondisk.RootItemDropProgressAt, 8, 256, "drop_level is 0"},
		{keyObjectID, 8, 0, "tree 0"},
		{keyOffset, 8, 1, "key offset of tree 2 is 1"},
	}},
	// metadata_item
	{ondisk.ExtentTreeID, ondisk.MetadataItemKey, nil, []alteration{
		{ondisk.ExtentItemGenerationAt, 8, far, "generation is"},
		{ondisk.ExtentItemFlagsAt, 8, 0, "flags is 0x0"},
		{ondisk.ExtentItemFlagsAt, 8, 3, "flags is 0x3"},
		{ondisk.ExtentItemFlagsAt, 8, 1, "it is of data"},
		{ondisk.ExtentItemFlagsAt, 8, 1<<9 | 2, "flags is 0x202"},
		{keyOffset, 8, 8, "level is 8"},
		{ondisk.ExtentItemSize, 1, 1, "type 1"},
		{ondisk.ExtentItemSize, 1, 178, "beyond the end"},
		{ondisk.ExtentItemSize, 1, 172, "out of place"},
		{ondisk.ExtentItemRefsAt, 8, 0, "refs is 0, the back references in the item are 1"},
	}},
	// extent_item of data
	{ondisk.ExtentTreeID, ondisk.ExtentItemKey, nil, []alteration{
		{ondisk.ExtentItemFlagsAt, 8, 1 | 1<<8, "full_backref"},
		{ondisk.ExtentItemFlagsAt, 8, 2, "length of a tree block"},
		{keyOffset, 8, 5, "length is 5"},
		{inlineRef + ondisk.ExtentDataRefRootAt, 8, 3, "root is 3"},
		{inlineRef + ondisk.ExtentDataRefObjectIDAt, 8, 1, "objectid is 1"},
		{inlineRef + ondisk.ExtentDataRefOffsetAt, 8, 1, "offset is 1"},
		{inlineRef + ondisk.ExtentDataRefCountAt, 4, 0, "count is 0"},
		{ondisk.ExtentItemSize, 1, 176, "does not fit"},
		{ondisk.ExtentItemSize, 1, 184, "of a shared_data_ref"},
		{inlineRef + ondisk.ExtentDataRefCountAt, 4, 2, "the back references in the item are 2"},
	}},
	// block_group_item
	{ondisk.ExtentTreeID, ondisk.BlockGroupItemKey, nil, []alteration{
		{ondisk.BlockGroupUsedAt, 8, far, "used is"},
		{ondisk.BlockGroupChunkObjectIDAt, 8, 1, "chunk_objectid is 1"},
		{ondisk.BlockGroupFlagsAt, 8, 1 | 3<<3, "more than one profile"},
		{ondisk.BlockGroupFlagsAt, 8, 0, "flags is 0x0"},
		{ondisk.BlockGroupFlagsAt, 8, 3, "flags is 0x3"},
		{ondisk.BlockGroupFlagsAt, 8, 1 | 1<<40, "flags is"},
		{keyOffset, 8, 0, "length is 0"},
	}},
	// chunk_item of data
	{ondisk.ChunkTreeID, ondisk.ChunkItemKey, isDataChunk, []alteration{
		{ondisk.ChunkNumStripesAt, 2, 0, "num_stripes is 0"},
		{ondisk.ChunkNumStripesAt, 2, 2, "num_stripes is 2 in an item"},
		{ondisk.ChunkSectorSizeAt, 4, 512, "sector_size is 512"},
		{ondisk.ChunkStripeLenAt, 8, 4096, "stripe_len is 4096"},
		{ondisk.ChunkLengthAt, 8, 0, "no multiple of sectorsize"},
		{ondisk.ChunkLengthAt, 8, 5, "no multiple of sectorsize"},
		{ondisk.ChunkLengthAt, 8, 1<<64 - 4096, "no multiple of sectorsize"},
		{keyOffset, 8, 1<<40 + 1, "no multiple of sectorsize"},
		{ondisk.ChunkLengthAt, 8, 1 << 50, "lies beyond"},
		{ondisk.ChunkTypeAt, 8, 1 | 1<<40, "type is"},
		{ondisk.ChunkTypeAt, 8, 1 | 3<<4, "more than one profile"},
		{ondisk.ChunkTypeAt, 8, 0, "type is 0x0"},
		{ondisk.ChunkTypeAt, 8, 3, "SYSTEM stands alone"},
		{ondisk.ChunkTypeAt, 8, 1 | 1<<4, "num_stripes is 1 under"},
		{ondisk.ChunkTypeAt, 8, 1 | 1<<6, "num_stripes is 1 under"},
		{ondisk.ChunkTypeAt, 8, 5, "MIXED_GROUPS"},
		{keyObjectID, 8, 257, "objectid is 257"},
	}},
	// dev_item
	{ondisk.ChunkTreeID, ondisk.DevItemKey, nil, []alteration{
		{ondisk.DevItemBytesUsedAt, 8, 1 << 60, "bytes_used is"},
		{ondisk.DevItemDevIDAt, 8, 7, "devid is 7"},
		{ondisk.DevItemUUIDAt, 8, 7, "uuid is"},
		{ondisk.DevItemFSIDAt, 8, 7, "fsid is"},
	}},
	// dev_extent
	{ondisk.DevTreeID, ondisk.DevExtentKey, nil, []alteration{
		{ondisk.DevExtentChunkTreeAt, 8, 4, "chunk_tree is 4"},
		{ondisk.DevExtentChunkObjectIDAt, 8, 1, "chunk_objectid is 1"},
		{ondisk.DevExtentChunkOffsetAt, 8, 4097, "chunk_offset is 4097"},
		{ondisk.DevExtentLengthAt, 8, 5, "length is 5"},
		{ondisk.DevExtentLengthAt, 8, 0, "length is 0"},
		{keyOffset, 8, 4097, "begins at 4097"},
	}},
	// free_space_info
	{ondisk.FreeSpaceTreeID, ondisk.FreeSpaceInfoKey, nil, []alteration{
		{ondisk.FreeSpaceInfoFlagsAt, 4, 2, "flags of a free_space_info"},
		{ondisk.FreeSpaceInfoExtentCountAt, 4, 1 << 31, "extent_count of a free_space_info"},
		{keyObjectID, 8, 4097, "no whole sectors"},
		{keyOffset, 8, 4097, "no whole sectors"},
	}},
	{ondisk.FreeSpaceTreeID, ondisk.FreeSpaceExtentKey, nil, []alteration{
		{keyOffset, 8, 5, "no whole sectors"},
		{keyOffset, 8, 0, "no whole sectors"},
	}},
}
