// Code generated from the tables of fields by TestViews -update. DO NOT EDIT.

package ondisk

import "fsward/interp/disk"

// Size of struct btrfs_disk_key in bytes, and the offsets of its members.
const (
	DiskKeySize = 17

	DiskKeyObjectIDAt = 0
	DiskKeyTypeAt     = 8
	DiskKeyOffsetAt   = 9
)

// Size of struct btrfs_header in bytes, and the offsets of its members.
const (
	HeaderSize = 101

	HeaderCsumAt          = 0
	HeaderFSIDAt          = 32
	HeaderBytenrAt        = 48
	HeaderFlagsAt         = 56
	HeaderBackrefRevAt    = 63
	HeaderChunkTreeUUIDAt = 64
	HeaderGenerationAt    = 80
	HeaderOwnerAt         = 88
	HeaderNrItemsAt       = 96
	HeaderLevelAt         = 100
)

// Size of struct btrfs_item in bytes, and the offsets of its members.
const (
	ItemSize = 25

	ItemKeyAt    = 0
	ItemOffsetAt = 17
	ItemSizeAt   = 21
)

// Size of struct btrfs_key_ptr in bytes, and the offsets of its members.
const (
	KeyPtrSize = 33

	KeyPtrKeyAt        = 0
	KeyPtrBlockptrAt   = 17
	KeyPtrGenerationAt = 25
)

// Size of struct btrfs_super_block in bytes, and the offsets of its members.
const (
	SuperSize = 4096

	SuperGenerationAt          = 72
	SuperLogRootAt             = 96
	SuperTotalBytesAt          = 112
	SuperBytesUsedAt           = 120
	SuperNumDevicesAt          = 136
	SuperSectorsizeAt          = 144
	SuperNodesizeAt            = 148
	SuperCompatROFlagsAt       = 180
	SuperIncompatFlagsAt       = 188
	SuperCsumTypeAt            = 196
	SuperCacheGenerationAt     = 555
	SuperUUIDTreeGenerationAt  = 563
	SuperCsumAt                = 0
	SuperFSIDAt                = 32
	SuperBytenrAt              = 48
	SuperFlagsAt               = 56
	SuperMagicAt               = 64
	SuperRootAt                = 80
	SuperChunkRootAt           = 88
	SuperLogRootTransIDAt      = 104
	SuperRootDirObjectIDAt     = 128
	SuperLeafsizeAt            = 152
	SuperStripesizeAt          = 156
	SuperSysChunkArraySizeAt   = 160
	SuperChunkRootGenerationAt = 164
	SuperCompatFlagsAt         = 172
	SuperRootLevelAt           = 198
	SuperChunkRootLevelAt      = 199
	SuperLogRootLevelAt        = 200
	SuperDevItemAt             = 201
	SuperLabelAt               = 299
	SuperMetadataUUIDAt        = 571
	SuperSysChunkArrayAt       = 811
	SuperSuperRootsAt          = 2859
)

// Size of struct btrfs_root_backup in bytes, and the offsets of its members.
const (
	RootBackupSize = 168

	RootBackupTreeRootAt      = 0
	RootBackupTreeRootGenAt   = 8
	RootBackupChunkRootAt     = 16
	RootBackupExtentRootAt    = 32
	RootBackupFsRootAt        = 48
	RootBackupNumDevicesAt    = 112
	RootBackupTreeRootLevelAt = 152
)

// Size of struct btrfs_dev_extent in bytes, and the offsets of its members.
const (
	DevExtentSize = 48

	DevExtentChunkTreeAt     = 0
	DevExtentChunkObjectIDAt = 8
	DevExtentChunkOffsetAt   = 16
	DevExtentLengthAt        = 24
	DevExtentChunkTreeUUIDAt = 32
)

// A DevExtent is a view on a struct btrfs_dev_extent.
type DevExtent struct{ disk.Region }

// ViewDevExtent returns the view on r, and reports whether r has DevExtentSize bytes.
func ViewDevExtent(r disk.Region) (DevExtent, bool) {
	return DevExtent{r}, r.Len() >= DevExtentSize
}

func (v DevExtent) ChunkTree() uint64     { return v.U64(DevExtentChunkTreeAt) }
func (v DevExtent) ChunkObjectID() uint64 { return v.U64(DevExtentChunkObjectIDAt) }
func (v DevExtent) ChunkOffset() uint64   { return v.U64(DevExtentChunkOffsetAt) }
func (v DevExtent) Length() uint64        { return v.U64(DevExtentLengthAt) }
func (v DevExtent) ChunkTreeUUID() [16]byte {
	return [16]byte(v.Bytes()[DevExtentChunkTreeUUIDAt:])
}

// Size of struct btrfs_dev_item in bytes, and the offsets of its members.
const (
	DevItemSize = 98

	DevItemDevIDAt       = 0
	DevItemTotalBytesAt  = 8
	DevItemBytesUsedAt   = 16
	DevItemIOAlignAt     = 24
	DevItemIOWidthAt     = 28
	DevItemSectorSizeAt  = 32
	DevItemTypeAt        = 36
	DevItemGenerationAt  = 44
	DevItemStartOffsetAt = 52
	DevItemDevGroupAt    = 60
	DevItemSeekSpeedAt   = 64
	DevItemBandwidthAt   = 65
	DevItemUUIDAt        = 66
	DevItemFSIDAt        = 82
)

// A DevItem is a view on a struct btrfs_dev_item.
type DevItem struct{ disk.Region }

// ViewDevItem returns the view on r, and reports whether r has DevItemSize bytes.
func ViewDevItem(r disk.Region) (DevItem, bool) {
	return DevItem{r}, r.Len() >= DevItemSize
}

func (v DevItem) DevID() uint64       { return v.U64(DevItemDevIDAt) }
func (v DevItem) TotalBytes() uint64  { return v.U64(DevItemTotalBytesAt) }
func (v DevItem) BytesUsed() uint64   { return v.U64(DevItemBytesUsedAt) }
func (v DevItem) IOAlign() uint32     { return v.U32(DevItemIOAlignAt) }
func (v DevItem) IOWidth() uint32     { return v.U32(DevItemIOWidthAt) }
func (v DevItem) SectorSize() uint32  { return v.U32(DevItemSectorSizeAt) }
func (v DevItem) Type() uint64        { return v.U64(DevItemTypeAt) }
func (v DevItem) Generation() uint64  { return v.U64(DevItemGenerationAt) }
func (v DevItem) StartOffset() uint64 { return v.U64(DevItemStartOffsetAt) }
func (v DevItem) DevGroup() uint32    { return v.U32(DevItemDevGroupAt) }
func (v DevItem) SeekSpeed() uint8    { return v.U8(DevItemSeekSpeedAt) }
func (v DevItem) Bandwidth() uint8    { return v.U8(DevItemBandwidthAt) }
func (v DevItem) UUID() [16]byte      { return [16]byte(v.Bytes()[DevItemUUIDAt:]) }
func (v DevItem) FSID() [16]byte      { return [16]byte(v.Bytes()[DevItemFSIDAt:]) }

// Size of struct btrfs_chunk in bytes, and the offsets of its members.
const (
	ChunkSize = 80

	ChunkLengthAt     = 0
	ChunkOwnerAt      = 8
	ChunkStripeLenAt  = 16
	ChunkTypeAt       = 24
	ChunkIOAlignAt    = 32
	ChunkIOWidthAt    = 36
	ChunkSectorSizeAt = 40
	ChunkNumStripesAt = 44
	ChunkSubStripesAt = 46
)

// A Chunk is a view on a struct btrfs_chunk.
type Chunk struct{ disk.Region }

// ViewChunk returns the view on r, and reports whether r has ChunkSize bytes.
func ViewChunk(r disk.Region) (Chunk, bool) {
	return Chunk{r}, r.Len() >= ChunkSize
}

func (v Chunk) Length() uint64     { return v.U64(ChunkLengthAt) }
func (v Chunk) Owner() uint64      { return v.U64(ChunkOwnerAt) }
func (v Chunk) StripeLen() uint64  { return v.U64(ChunkStripeLenAt) }
func (v Chunk) Type() uint64       { return v.U64(ChunkTypeAt) }
func (v Chunk) IOAlign() uint32    { return v.U32(ChunkIOAlignAt) }
func (v Chunk) IOWidth() uint32    { return v.U32(ChunkIOWidthAt) }
func (v Chunk) SectorSize() uint32 { return v.U32(ChunkSectorSizeAt) }
func (v Chunk) NumStripes() uint16 { return v.U16(ChunkNumStripesAt) }
func (v Chunk) SubStripes() uint16 { return v.U16(ChunkSubStripesAt) }

// Size of struct btrfs_stripe in bytes, and the offsets of its members.
const (
	StripeSize = 32

	StripeDevIDAt   = 0
	StripeOffsetAt  = 8
	StripeDevUUIDAt = 16
)

// A Stripe is a view on a struct btrfs_stripe.
type Stripe struct{ disk.Region }

// ViewStripe returns the view on r, and reports whether r has StripeSize bytes.
func ViewStripe(r disk.Region) (Stripe, bool) {
	return Stripe{r}, r.Len() >= StripeSize
}

func (v Stripe) DevID() uint64     { return v.U64(StripeDevIDAt) }
func (v Stripe) Offset() uint64    { return v.U64(StripeOffsetAt) }
func (v Stripe) DevUUID() [16]byte { return [16]byte(v.Bytes()[StripeDevUUIDAt:]) }

// Size of struct btrfs_dev_replace_item in bytes, and the offsets of its members.
const (
	DevReplaceSize = 72

	DevReplaceSrcDevIDAt = 0
)

// A DevReplace is a view on a struct btrfs_dev_replace_item.
type DevReplace struct{ disk.Region }

// ViewDevReplace returns the view on r, and reports whether r has DevReplaceSize bytes.
func ViewDevReplace(r disk.Region) (DevReplace, bool) {
	return DevReplace{r}, r.Len() >= DevReplaceSize
}

func (v DevReplace) SrcDevID() uint64 { return v.U64(DevReplaceSrcDevIDAt) }
