package ondisk

// LegacyRootItemSize is the size of a root item without generation_v2 and the members behind it.
const LegacyRootItemSize = RootItemGenerationV2At

var RootItemLayout = Structure{"btrfs_root_item", 439, []Member{
	{Name: "generation", Off: 160, Width: 8, Field: FieldGeneration},
	{Name: "root_dirid", Off: 168, Width: 8, Field: FieldRootDirID},
	{Name: "bytenr", Off: 176, Width: 8, Field: FieldBytenr},
	{Name: "byte_limit", Off: 184, Width: 8, Field: FieldByteLimit},
	{Name: "bytes_used", Off: 192, Width: 8, Field: FieldBytesUsed},
	{Name: "last_snapshot", Off: 200, Width: 8, Field: FieldLastSnapshot},
	{Name: "flags", Off: 208, Width: 8, Field: FieldFlags},
	{Name: "refs", Off: 216, Width: 4, Field: FieldRefs},
	{Name: "drop_progress", Off: 220, Width: DiskKeySize, Field: FieldDropProgress},
	{Name: "drop_level", Off: 237, Width: 1, Field: FieldDropLevel},
	{Name: "level", Off: 238, Width: 1, Field: FieldLevel},
	{Name: "uuid", Off: 247, Width: UUIDSize, Field: FieldUUID, Kind: KindUUIDSubvol},
	{Name: "received_uuid", Off: 279, Width: UUIDSize, Field: FieldReceivedUUID,
		Kind: KindUUIDReceived},
	{Name: "ctransid", Off: 295, Width: 8, Field: FieldCTransID},
	{Name: "otransid", Off: 303, Width: 8, Field: FieldOTransID},
	{Name: "rtransid", Off: 319, Width: 8, Field: FieldRTransID},
}, []Member{
	{Name: "generation_v2", Off: 239, Width: 8},
	{Name: "parent_uuid", Off: 263, Width: UUIDSize},
	{Name: "stransid", Off: 311, Width: 8},
}}

var RootRefLayout = Structure{"btrfs_root_ref", 18, []Member{
	{Name: "dirid", Off: 0, Width: 8, Field: FieldDirID},
	{Name: "sequence", Off: 8, Width: 8, Field: FieldSequence},
	{Name: "name_len", Off: 16, Width: 2, Field: FieldNameLen},
}, nil}

var QgroupStatusLayout = Structure{"btrfs_qgroup_status_item", 32, []Member{
	{Name: "version", Off: 0, Width: 8, Field: FieldVersion},
	{Name: "generation", Off: 8, Width: 8, Field: FieldGeneration, ViewOnly: true},
	{Name: "flags", Off: 16, Width: 8, Field: FieldFlags, Parts: []BitField{
		{Field: FieldQuotaOn, Mask: 1 << 0, ViewOnly: true},
		{Field: FieldQuotaRescan, Mask: 1 << 1, Shift: 1, ViewOnly: true},
		{Field: fieldQuotaInconsistent, Mask: 1 << 2, Shift: 2, ViewOnly: true}}},
	{Name: "rescan", Off: 24, Width: 8, Field: FieldRescan},
}, nil}

var QgroupInfoLayout = Structure{"btrfs_qgroup_info_item", 40, []Member{
	{Name: "generation", Off: 0, Width: 8, Field: FieldGeneration, ViewOnly: true},
	{Name: "rfer", Off: 8, Width: 8, Field: FieldReferenced},
	{Name: "rfer_cmpr", Off: 16, Width: 8, Field: FieldReferencedCompressed},
	{Name: "excl", Off: 24, Width: 8, Field: FieldExclusive},
	{Name: "excl_cmpr", Off: 32, Width: 8, Field: FieldExclusiveCompressed},
}, nil}

var QgroupLimitLayout = Structure{"btrfs_qgroup_limit_item", 40, []Member{
	{Name: "flags", Off: 0, Width: 8, Field: FieldFlags},
	{Name: "max_rfer", Off: 8, Width: 8, Field: FieldMaxReferenced},
	{Name: "max_excl", Off: 16, Width: 8, Field: FieldMaxExclusive},
	{Name: "rsv_rfer", Off: 24, Width: 8, Field: FieldReservedReferenced},
	{Name: "rsv_excl", Off: 32, Width: 8, Field: FieldReservedExclusive},
}, nil}

// VerityDescriptorLayout is the layout of the first item of an fs-verity descriptor.
var VerityDescriptorLayout = Structure{"btrfs_verity_descriptor_item", 25, nil, []Member{
	{Name: "size", Off: 0, Width: 8},
	{Name: "reserved", Off: 8, Width: 16},
	{Name: "encryption", Off: 24, Width: 1},
}}
