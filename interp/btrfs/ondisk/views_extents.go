// Code generated from the tables of fields by TestViews -update. DO NOT EDIT.

package ondisk

import "fsward/interp/disk"

// Size of struct btrfs_extent_item in bytes, and the offsets of its members.
const (
	ExtentItemSize = 24

	ExtentItemRefsAt       = 0
	ExtentItemGenerationAt = 8
	ExtentItemFlagsAt      = 16
)

// An ExtentItem is a view on a struct btrfs_extent_item.
type ExtentItem struct{ disk.Region }

// ViewExtentItem returns the view on r, and reports whether r has ExtentItemSize bytes.
func ViewExtentItem(r disk.Region) (ExtentItem, bool) {
	return ExtentItem{r}, r.Len() >= ExtentItemSize
}

func (v ExtentItem) Refs() uint64       { return v.U64(ExtentItemRefsAt) }
func (v ExtentItem) Generation() uint64 { return v.U64(ExtentItemGenerationAt) }
func (v ExtentItem) Flags() uint64      { return v.U64(ExtentItemFlagsAt) }

// Size of struct btrfs_extent_data_ref in bytes, and the offsets of its members.
const (
	ExtentDataRefSize = 28

	ExtentDataRefRootAt     = 0
	ExtentDataRefObjectIDAt = 8
	ExtentDataRefOffsetAt   = 16
	ExtentDataRefCountAt    = 24
)

// An ExtentDataRef is a view on a struct btrfs_extent_data_ref.
type ExtentDataRef struct{ disk.Region }

// ViewExtentDataRef returns the view on r, and reports whether r has ExtentDataRefSize bytes.
func ViewExtentDataRef(r disk.Region) (ExtentDataRef, bool) {
	return ExtentDataRef{r}, r.Len() >= ExtentDataRefSize
}

func (v ExtentDataRef) Root() uint64     { return v.U64(ExtentDataRefRootAt) }
func (v ExtentDataRef) ObjectID() uint64 { return v.U64(ExtentDataRefObjectIDAt) }
func (v ExtentDataRef) Offset() uint64   { return v.U64(ExtentDataRefOffsetAt) }
func (v ExtentDataRef) Count() uint32    { return v.U32(ExtentDataRefCountAt) }

// Size of struct btrfs_shared_data_ref in bytes, and the offsets of its members.
const (
	SharedDataRefSize = 4

	SharedDataRefCountAt = 0
)

// A SharedDataRef is a view on a struct btrfs_shared_data_ref.
type SharedDataRef struct{ disk.Region }

// ViewSharedDataRef returns the view on r, and reports whether r has SharedDataRefSize bytes.
func ViewSharedDataRef(r disk.Region) (SharedDataRef, bool) {
	return SharedDataRef{r}, r.Len() >= SharedDataRefSize
}

func (v SharedDataRef) Count() uint32 { return v.U32(SharedDataRefCountAt) }

// Size of struct btrfs_tree_block_info in bytes, and the offsets of its members.
const (
	TreeBlockInfoSize = 18

	TreeBlockInfoKeyAt   = 0
	TreeBlockInfoLevelAt = 17
)

// A TreeBlockInfo is a view on a struct btrfs_tree_block_info.
type TreeBlockInfo struct{ disk.Region }

// ViewTreeBlockInfo returns the view on r, and reports whether r has TreeBlockInfoSize bytes.
func ViewTreeBlockInfo(r disk.Region) (TreeBlockInfo, bool) {
	return TreeBlockInfo{r}, r.Len() >= TreeBlockInfoSize
}

func (v TreeBlockInfo) Key() Key     { return ReadKey(v.Region, TreeBlockInfoKeyAt) }
func (v TreeBlockInfo) Level() uint8 { return v.U8(TreeBlockInfoLevelAt) }

// Size of struct btrfs_extent_inline_ref in bytes, and the offsets of its members.
const (
	ExtentInlineRefSize = 9

	ExtentInlineRefTypeAt   = 0
	ExtentInlineRefOffsetAt = 1
)

// An ExtentInlineRef is a view on a struct btrfs_extent_inline_ref.
type ExtentInlineRef struct{ disk.Region }

// ViewExtentInlineRef returns the view on r, and reports whether r has ExtentInlineRefSize bytes.
func ViewExtentInlineRef(r disk.Region) (ExtentInlineRef, bool) {
	return ExtentInlineRef{r}, r.Len() >= ExtentInlineRefSize
}

func (v ExtentInlineRef) Type() uint8    { return v.U8(ExtentInlineRefTypeAt) }
func (v ExtentInlineRef) Offset() uint64 { return v.U64(ExtentInlineRefOffsetAt) }

// Size of struct btrfs_block_group_item in bytes, and the offsets of its members.
const (
	BlockGroupSize = 24

	BlockGroupUsedAt          = 0
	BlockGroupChunkObjectIDAt = 8
	BlockGroupFlagsAt         = 16
)

// A BlockGroup is a view on a struct btrfs_block_group_item.
type BlockGroup struct{ disk.Region }

// ViewBlockGroup returns the view on r, and reports whether r has BlockGroupSize bytes.
func ViewBlockGroup(r disk.Region) (BlockGroup, bool) {
	return BlockGroup{r}, r.Len() >= BlockGroupSize
}

func (v BlockGroup) Used() uint64          { return v.U64(BlockGroupUsedAt) }
func (v BlockGroup) ChunkObjectID() uint64 { return v.U64(BlockGroupChunkObjectIDAt) }
func (v BlockGroup) Flags() uint64         { return v.U64(BlockGroupFlagsAt) }

// Size of struct btrfs_free_space_info in bytes, and the offsets of its members.
const (
	FreeSpaceInfoSize = 8

	FreeSpaceInfoExtentCountAt = 0
	FreeSpaceInfoFlagsAt       = 4
)

// A FreeSpaceInfo is a view on a struct btrfs_free_space_info.
type FreeSpaceInfo struct{ disk.Region }

// ViewFreeSpaceInfo returns the view on r, and reports whether r has FreeSpaceInfoSize bytes.
func ViewFreeSpaceInfo(r disk.Region) (FreeSpaceInfo, bool) {
	return FreeSpaceInfo{r}, r.Len() >= FreeSpaceInfoSize
}

func (v FreeSpaceInfo) ExtentCount() uint32 { return v.U32(FreeSpaceInfoExtentCountAt) }
func (v FreeSpaceInfo) Flags() uint32       { return v.U32(FreeSpaceInfoFlagsAt) }

// Size of struct btrfs_free_space_header in bytes, and the offsets of its members.
const (
	FreeSpaceHeaderSize = 41

	FreeSpaceHeaderLocationAt   = 0
	FreeSpaceHeaderGenerationAt = 17
	FreeSpaceHeaderNumEntriesAt = 25
	FreeSpaceHeaderNumBitmapsAt = 33
)

// A FreeSpaceHeader is a view on a struct btrfs_free_space_header.
type FreeSpaceHeader struct{ disk.Region }

// ViewFreeSpaceHeader returns the view on r, and reports whether r has FreeSpaceHeaderSize bytes.
func ViewFreeSpaceHeader(r disk.Region) (FreeSpaceHeader, bool) {
	return FreeSpaceHeader{r}, r.Len() >= FreeSpaceHeaderSize
}

func (v FreeSpaceHeader) Location() Key {
	return ReadKey(v.Region, FreeSpaceHeaderLocationAt)
}
func (v FreeSpaceHeader) Generation() uint64 {
	return v.U64(FreeSpaceHeaderGenerationAt)
}
func (v FreeSpaceHeader) NumEntries() uint64 {
	return v.U64(FreeSpaceHeaderNumEntriesAt)
}
func (v FreeSpaceHeader) NumBitmaps() uint64 {
	return v.U64(FreeSpaceHeaderNumBitmapsAt)
}
