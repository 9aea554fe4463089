package ondisk

var ExtentItemLayout = Structure{"btrfs_extent_item", 24, []Member{
	{Name: "refs", Off: 0, Width: 8, Field: FieldRefs},
	{Name: "generation", Off: 8, Width: 8, Field: FieldGeneration},
	{Name: "flags", Off: 16, Width: 8, Parts: []BitField{
		{Field: FieldFlags, Mask: 3, Words: extentWords}}},
}, nil}

var ExtentDataRefLayout = Structure{"btrfs_extent_data_ref", 28, []Member{
	{Name: "root", Off: 0, Width: 8, Field: FieldRoot},
	{Name: "objectid", Off: 8, Width: 8, Field: FieldObjectID},
	{Name: "offset", Off: 16, Width: 8, Field: FieldOffset},
	{Name: "count", Off: 24, Width: 4, Field: FieldCount},
}, nil}

var SharedDataRefLayout = Structure{"btrfs_shared_data_ref", 4, []Member{
	{Name: "count", Off: 0, Width: 4, Field: FieldCount},
}, nil}

// TreeBlockInfoLayout is the layout of the structure that follows an extent_item of a tree block.
var TreeBlockInfoLayout = Structure{"btrfs_tree_block_info", 18, nil, []Member{
	{Name: "key", Off: 0, Width: DiskKeySize},
	{Name: "level", Off: 17, Width: 1},
}}

// ExtentInlineRefLayout is the layout of a back reference inside an extent item. A
// btrfs_extent_data_ref stands in the place of offset.
var ExtentInlineRefLayout = Structure{"btrfs_extent_inline_ref", 9, nil, []Member{
	{Name: "type", Off: 0, Width: 1},
	{Name: "offset", Off: 1, Width: 8},
}}

var BlockGroupLayout = Structure{"btrfs_block_group_item", 24, []Member{
	{Name: "used", Off: 0, Width: 8, Field: FieldUsed},
	{Name: "chunk_objectid", Off: 8, Width: 8, Field: FieldChunkObjectID},
	{Name: "flags", Off: 16, Width: 8, Field: FieldFlags},
}, nil}

var FreeSpaceInfoLayout = Structure{"btrfs_free_space_info", 8, []Member{
	{Name: "extent_count", Off: 0, Width: 4, Field: FieldExtentCount},
	{Name: "flags", Off: 4, Width: 4, Field: FieldFlags},
}, nil}

var FreeSpaceHeaderLayout = Structure{"btrfs_free_space_header", 41, []Member{
	{Name: "location", Off: 0, Width: DiskKeySize, Field: FieldLocation},
	{Name: "generation", Off: 17, Width: 8, Field: FieldGeneration},
	{Name: "num_entries", Off: 25, Width: 8, Field: FieldNumEntries},
	{Name: "num_bitmaps", Off: 33, Width: 8, Field: FieldNumBitmaps},
}, nil}
