package ondisk

// DiskKeyLayout is the layout of a key on disk. Change records have no members of the structures of
// metadata blocks.
var DiskKeyLayout = Structure{"btrfs_disk_key", 17, nil, []Member{
	{Name: "objectid", Off: 0, Width: 8},
	{Name: "type", Off: 8, Width: 1},
	{Name: "offset", Off: 9, Width: 8},
}}

// HeaderLayout is the layout of the header of a metadata block. The kernel's flags include
// backref_rev as their last byte.
var HeaderLayout = Structure{"btrfs_header", 101, nil, []Member{
	{Name: "csum", Off: 0, Width: 32},
	{Name: "fsid", Off: 32, Width: UUIDSize},
	{Name: "bytenr", Off: 48, Width: 8},
	{Name: "flags", Off: 56, Width: 7},
	{Name: "backref_rev", Off: 63, Width: 1},
	{Name: "chunk_tree_uuid", Off: 64, Width: UUIDSize},
	{Name: "generation", Off: 80, Width: 8},
	{Name: "owner", Off: 88, Width: 8},
	{Name: "nritems", Off: 96, Width: 4},
	{Name: "level", Off: 100, Width: 1},
}}

// ItemLayout is the layout of an item header in a leaf.
var ItemLayout = Structure{"btrfs_item", 25, nil, []Member{
	{Name: "key", Off: 0, Width: DiskKeySize},
	{Name: "offset", Off: 17, Width: 4},
	{Name: "size", Off: 21, Width: 4},
}}

// KeyPtrLayout is the layout of a pointer in a node above the leaves.
var KeyPtrLayout = Structure{"btrfs_key_ptr", 33, nil, []Member{
	{Name: "key", Off: 0, Width: DiskKeySize},
	{Name: "blockptr", Off: 17, Width: 8},
	{Name: "generation", Off: 25, Width: 8},
}}

// superDevItem is the offset of dev_item in struct btrfs_super_block.
const superDevItem = 201

// SuperLayout is the layout of the superblock (fs/btrfs/fs.h). No header for programs declares it.
var SuperLayout = Structure{"btrfs_super_block", 4096, []Member{
	{Name: "generation", Off: 72, Width: 8, Field: FieldGeneration},
	{Name: "log_root", Off: 96, Width: 8, Field: FieldLogRoot, ViewOnly: true},
	{Name: "total_bytes", Off: 112, Width: 8, Field: FieldTotalBytes},
	{Name: "bytes_used", Off: 120, Width: 8, Field: FieldBytesUsed},
	{Name: "num_devices", Off: 136, Width: 8, Field: FieldNumDevices},
	{Name: "sectorsize", Off: 144, Width: 4, Field: FieldSectorsize},
	{Name: "nodesize", Off: 148, Width: 4, Field: FieldNodesize},
	{Name: "compat_ro_flags", Off: 180, Width: 8, Parts: []BitField{
		{Field: FieldFreeSpaceValid, Mask: CompatROFreeSpaceValid, Shift: 1}}},
	{Name: "incompat_flags", Off: 188, Width: 8, Parts: []BitField{
		{Field: FieldNoHoles, Mask: IncompatNoHoles, Shift: 9, ViewOnly: true}}},
	{Name: "csum_type", Off: 196, Width: 2, Field: FieldCsumType},
	{Name: "dev_item.devid", Off: superDevItem + DevItemDevIDAt, Width: 8, Field: FieldDevID},
	{Name: "dev_item.total_bytes", Off: superDevItem + DevItemTotalBytesAt, Width: 8,
		Field: FieldSuperDevTotal},
	{Name: "dev_item.bytes_used", Off: superDevItem + DevItemBytesUsedAt, Width: 8,
		Field: FieldSuperDevUsed},
	{Name: "cache_generation", Off: 555, Width: 8, Field: FieldCacheGeneration, ViewOnly: true},
	{Name: "uuid_tree_generation", Off: 563, Width: 8, Field: FieldUUIDTreeGeneration, ViewOnly: true},
}, []Member{
	{Name: "csum", Off: 0, Width: 32},
	{Name: "fsid", Off: 32, Width: UUIDSize},
	{Name: "bytenr", Off: 48, Width: 8},
	{Name: "flags", Off: 56, Width: 8},
	{Name: "magic", Off: 64, Width: 8},
	{Name: "root", Off: 80, Width: 8},
	{Name: "chunk_root", Off: 88, Width: 8},
	{Name: "log_root_transid", Off: 104, Width: 8},
	{Name: "root_dir_objectid", Off: 128, Width: 8},
	{Name: "leafsize", Off: 152, Width: 4},
	{Name: "stripesize", Off: 156, Width: 4},
	{Name: "sys_chunk_array_size", Off: 160, Width: 4},
	{Name: "chunk_root_generation", Off: 164, Width: 8},
	{Name: "compat_flags", Off: 172, Width: 8},
	{Name: "root_level", Off: 198, Width: 1},
	{Name: "chunk_root_level", Off: 199, Width: 1},
	{Name: "log_root_level", Off: 200, Width: 1},
	{Name: "dev_item", Off: superDevItem, Width: DevItemSize},
	{Name: "label", Off: 299, Width: 256},
	{Name: "metadata_uuid", Off: 571, Width: UUIDSize},
	{Name: "sys_chunk_array", Off: 811, Width: SysArrayMax},
	{Name: "super_roots", Off: 2859, Width: BackupRoots * RootBackupSize},
}}

// RootBackupLayout is the layout of an entry of super_roots: the roots of an earlier commit.
var RootBackupLayout = Structure{"btrfs_root_backup", 168, nil, []Member{
	{Name: "tree_root", Off: 0, Width: 8},
	{Name: "tree_root_gen", Off: 8, Width: 8},
	{Name: "chunk_root", Off: 16, Width: 8},
	{Name: "extent_root", Off: 32, Width: 8},
	{Name: "fs_root", Off: 48, Width: 8},
	{Name: "num_devices", Off: 112, Width: 8},
	{Name: "tree_root_level", Off: 152, Width: 1},
}}
