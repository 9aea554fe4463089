package ondisk

var InodeItemLayout = Structure{"btrfs_inode_item", 160, []Member{
	{Name: "generation", Off: 0, Width: 8, Field: FieldGeneration},
	{Name: "transid", Off: 8, Width: 8, Field: FieldTransID, ViewOnly: true},
	{Name: "size", Off: 16, Width: 8, Field: FieldSize},
	{Name: "nbytes", Off: 24, Width: 8, Field: FieldNBytes},
	{Name: "block_group", Off: 32, Width: 8, Field: FieldBlockGroup, ViewOnly: true},
	{Name: "nlink", Off: 40, Width: 4, Field: FieldNLink},
	{Name: "uid", Off: 44, Width: 4, Field: FieldUID},
	{Name: "gid", Off: 48, Width: 4, Field: FieldGID},
	{Name: "mode", Off: 52, Width: 4, Parts: []BitField{
		{Field: FieldModeType, Mask: 0xf000, Shift: 12, Words: modeWords},
		{Field: FieldModePerm, Mask: 0xfff}}},
	{Name: "rdev", Off: 56, Width: 8, Field: FieldRDev},
	{Name: "flags", Off: 64, Width: 8, Field: FieldFlags, Parts: []BitField{
		{Field: FieldNoDataSum, Mask: 1 << 0},
		{Field: FieldNoDataCow, Mask: 1 << 1, Shift: 1, ViewOnly: true},
		{Field: FieldReadOnly, Mask: 1 << 2, Shift: 2, ViewOnly: true},
		{Field: FieldNoCompress, Mask: 1 << 3, Shift: 3, ViewOnly: true},
		{Field: FieldPrealloc, Mask: 1 << 4, Shift: 4, ViewOnly: true},
		{Field: FieldSync, Mask: 1 << 5, Shift: 5, ViewOnly: true},
		{Field: FieldImmutable, Mask: 1 << 6, Shift: 6, ViewOnly: true},
		{Field: FieldAppend, Mask: 1 << 7, Shift: 7, ViewOnly: true},
		{Field: FieldCompress, Mask: 1 << 11, Shift: 11, ViewOnly: true}}},
	{Name: "sequence", Off: 72, Width: 8, Field: FieldSequence, ViewOnly: true},
	{Name: "atime", Off: 112, Width: 8, Field: FieldATime, ViewOnly: true},
	{Name: "ctime", Off: 124, Width: 8, Field: FieldCTime, ViewOnly: true},
	{Name: "mtime", Off: 136, Width: 8, Field: FieldMTime, ViewOnly: true},
	{Name: "otime", Off: 148, Width: 8, Field: FieldOTime, ViewOnly: true},
}, nil}

var InodeRefLayout = Structure{"btrfs_inode_ref", 10, []Member{
	{Name: "index", Off: 0, Width: 8},
	{Name: "name_len", Off: 8, Width: 2, Field: FieldNameLen},
}, nil}

var InodeExtrefLayout = Structure{"btrfs_inode_extref", 18, []Member{
	{Name: "parent_objectid", Off: 0, Width: 8},
	{Name: "index", Off: 8, Width: 8},
	{Name: "name_len", Off: 16, Width: 2, Field: FieldNameLen},
}, nil}

var DirLogLayout = Structure{"btrfs_dir_log_item", 8, []Member{
	{Name: "end", Off: 0, Width: 8, Field: FieldEndOffset},
}, nil}

var DirItemLayout = Structure{"btrfs_dir_item", 30, []Member{
	{Name: "location", Off: 0, Width: DiskKeySize, Field: FieldLocation},
	{Name: "transid", Off: 17, Width: 8, Field: FieldTransID, ViewOnly: true},
	{Name: "data_len", Off: 25, Width: 2, Field: FieldDataLen, ViewOnly: true},
	{Name: "name_len", Off: 27, Width: 2, Field: FieldNameLen},
	{Name: "type", Off: 29, Width: 1, Field: FieldType, Words: entryWords},
}, nil}

var FileExtentLayout = Structure{"btrfs_file_extent_item", 53, []Member{
	{Name: "generation", Off: 0, Width: 8, Field: FieldGeneration, ViewOnly: true},
	{Name: "ram_bytes", Off: 8, Width: 8, Field: FieldRAMBytes},
	{Name: "compression", Off: 16, Width: 1, Field: FieldCompression},
	{Name: "type", Off: 20, Width: 1, Field: FieldType, Words: dataWords},
	{Name: "disk_bytenr", Off: 21, Width: 8, Field: FieldDiskBytenr},
	{Name: "disk_num_bytes", Off: 29, Width: 8, Field: FieldDiskNumBytes},
	{Name: "offset", Off: 37, Width: 8, Field: FieldExtentOffset},
	{Name: "num_bytes", Off: 45, Width: 8, Field: FieldNumBytes},
}, []Member{
	{Name: "encryption", Off: 17, Width: 1},
	{Name: "other_encoding", Off: 18, Width: 2},
}}

// InlineStart is the offset of the data of an inline extent: it stands in the place of disk_bytenr
// (BTRFS_FILE_EXTENT_INLINE_DATA_START).
const InlineStart = FileExtentDiskBytenrAt

// Types of a file extent (BTRFS_FILE_EXTENT_*).
const (
	ExtentInline   = 0
	ExtentPrealloc = 2
)

// Compressions of a file extent (enum btrfs_compression_type); 0: none.
const (
	CompressZlib = 1
	CompressLZO  = 2
	CompressZstd = 3
)
