// Code generated from the tables of fields by TestViews -update. DO NOT EDIT.

package ondisk

import "fsward/interp/disk"

// Size of struct btrfs_inode_item in bytes, and the offsets of its members.
const (
	InodeItemSize = 160

	InodeItemGenerationAt = 0
	InodeItemTransIDAt    = 8
	InodeItemSizeAt       = 16
	InodeItemNBytesAt     = 24
	InodeItemBlockGroupAt = 32
	InodeItemNLinkAt      = 40
	InodeItemUIDAt        = 44
	InodeItemGIDAt        = 48
	InodeItemModeAt       = 52
	InodeItemRdevAt       = 56
	InodeItemFlagsAt      = 64
	InodeItemSequenceAt   = 72
	InodeItemAtimeAt      = 112
	InodeItemCtimeAt      = 124
	InodeItemMtimeAt      = 136
	InodeItemOtimeAt      = 148
)

// An InodeItem is a view on a struct btrfs_inode_item.
type InodeItem struct{ disk.Region }

// ViewInodeItem returns the view on r, and reports whether r has InodeItemSize bytes.
func ViewInodeItem(r disk.Region) (InodeItem, bool) {
	return InodeItem{r}, r.Len() >= InodeItemSize
}

func (v InodeItem) Generation() uint64 { return v.U64(InodeItemGenerationAt) }
func (v InodeItem) TransID() uint64    { return v.U64(InodeItemTransIDAt) }
func (v InodeItem) Size() uint64       { return v.U64(InodeItemSizeAt) }
func (v InodeItem) NBytes() uint64     { return v.U64(InodeItemNBytesAt) }
func (v InodeItem) BlockGroup() uint64 { return v.U64(InodeItemBlockGroupAt) }
func (v InodeItem) NLink() uint32      { return v.U32(InodeItemNLinkAt) }
func (v InodeItem) UID() uint32        { return v.U32(InodeItemUIDAt) }
func (v InodeItem) GID() uint32        { return v.U32(InodeItemGIDAt) }
func (v InodeItem) Mode() uint32       { return v.U32(InodeItemModeAt) }
func (v InodeItem) Rdev() uint64       { return v.U64(InodeItemRdevAt) }
func (v InodeItem) Flags() uint64      { return v.U64(InodeItemFlagsAt) }
func (v InodeItem) Sequence() uint64   { return v.U64(InodeItemSequenceAt) }
func (v InodeItem) Atime() uint64      { return v.U64(InodeItemAtimeAt) }
func (v InodeItem) Ctime() uint64      { return v.U64(InodeItemCtimeAt) }
func (v InodeItem) Mtime() uint64      { return v.U64(InodeItemMtimeAt) }
func (v InodeItem) Otime() uint64      { return v.U64(InodeItemOtimeAt) }

// Size of struct btrfs_inode_ref in bytes, and the offsets of its members.
const (
	InodeRefSize = 10

	InodeRefIndexAt   = 0
	InodeRefNameLenAt = 8
)

// An InodeRef is a view on a struct btrfs_inode_ref.
type InodeRef struct{ disk.Region }

// ViewInodeRef returns the view on r, and reports whether r has InodeRefSize bytes.
func ViewInodeRef(r disk.Region) (InodeRef, bool) {
	return InodeRef{r}, r.Len() >= InodeRefSize
}

func (v InodeRef) Index() uint64   { return v.U64(InodeRefIndexAt) }
func (v InodeRef) NameLen() uint16 { return v.U16(InodeRefNameLenAt) }

// Size of struct btrfs_inode_extref in bytes, and the offsets of its members.
const (
	InodeExtrefSize = 18

	InodeExtrefParentObjectIDAt = 0
	InodeExtrefIndexAt          = 8
	InodeExtrefNameLenAt        = 16
)

// An InodeExtref is a view on a struct btrfs_inode_extref.
type InodeExtref struct{ disk.Region }

// ViewInodeExtref returns the view on r, and reports whether r has InodeExtrefSize bytes.
func ViewInodeExtref(r disk.Region) (InodeExtref, bool) {
	return InodeExtref{r}, r.Len() >= InodeExtrefSize
}

func (v InodeExtref) ParentObjectID() uint64 {
	return v.U64(InodeExtrefParentObjectIDAt)
}
func (v InodeExtref) Index() uint64   { return v.U64(InodeExtrefIndexAt) }
func (v InodeExtref) NameLen() uint16 { return v.U16(InodeExtrefNameLenAt) }

// Size of struct btrfs_dir_item in bytes, and the offsets of its members.
const (
	DirItemSize = 30

	DirItemLocationAt = 0
	DirItemTransIDAt  = 17
	DirItemDataLenAt  = 25
	DirItemNameLenAt  = 27
	DirItemTypeAt     = 29
)

// A DirItem is a view on a struct btrfs_dir_item.
type DirItem struct{ disk.Region }

// ViewDirItem returns the view on r, and reports whether r has DirItemSize bytes.
func ViewDirItem(r disk.Region) (DirItem, bool) {
	return DirItem{r}, r.Len() >= DirItemSize
}

func (v DirItem) Location() Key   { return ReadKey(v.Region, DirItemLocationAt) }
func (v DirItem) TransID() uint64 { return v.U64(DirItemTransIDAt) }
func (v DirItem) DataLen() uint16 { return v.U16(DirItemDataLenAt) }
func (v DirItem) NameLen() uint16 { return v.U16(DirItemNameLenAt) }
func (v DirItem) Type() uint8     { return v.U8(DirItemTypeAt) }

// Size of struct btrfs_file_extent_item in bytes, and the offsets of its members.
const (
	FileExtentSize = 53

	FileExtentGenerationAt    = 0
	FileExtentRAMBytesAt      = 8
	FileExtentCompressionAt   = 16
	FileExtentTypeAt          = 20
	FileExtentDiskBytenrAt    = 21
	FileExtentDiskNumBytesAt  = 29
	FileExtentOffsetAt        = 37
	FileExtentNumBytesAt      = 45
	FileExtentEncryptionAt    = 17
	FileExtentOtherEncodingAt = 18
)

// A FileExtent is a view on a struct btrfs_file_extent_item.
type FileExtent struct{ disk.Region }

// ViewFileExtent returns the view on r, and reports whether r has InlineStart bytes.
func ViewFileExtent(r disk.Region) (FileExtent, bool) {
	return FileExtent{r}, r.Len() >= InlineStart
}

func (v FileExtent) Generation() uint64    { return v.U64(FileExtentGenerationAt) }
func (v FileExtent) RAMBytes() uint64      { return v.U64(FileExtentRAMBytesAt) }
func (v FileExtent) Compression() uint8    { return v.U8(FileExtentCompressionAt) }
func (v FileExtent) Type() uint8           { return v.U8(FileExtentTypeAt) }
func (v FileExtent) DiskBytenr() uint64    { return v.U64(FileExtentDiskBytenrAt) }
func (v FileExtent) DiskNumBytes() uint64  { return v.U64(FileExtentDiskNumBytesAt) }
func (v FileExtent) Offset() uint64        { return v.U64(FileExtentOffsetAt) }
func (v FileExtent) NumBytes() uint64      { return v.U64(FileExtentNumBytesAt) }
func (v FileExtent) Encryption() uint8     { return v.U8(FileExtentEncryptionAt) }
func (v FileExtent) OtherEncoding() uint16 { return v.U16(FileExtentOtherEncodingAt) }
