// Code generated from the tables of fields by TestViews -update. DO NOT EDIT.

package ondisk

import "encoding/binary"

// Size of struct ext2_group_desc in bytes, and the offsets of its members.
const (
	GroupDescLen = 32

	GroupDescBlockBitmapAt       = 0
	GroupDescInodeBitmapAt       = 4
	GroupDescInodeTableAt        = 8
	GroupDescFreeBlocksCountAt   = 12
	GroupDescFreeInodesCountAt   = 14
	GroupDescUsedDirsCountAt     = 16
	GroupDescFlagsAt             = 18
	GroupDescExcludeBitmapLoAt   = 20
	GroupDescBlockBitmapCsumLoAt = 24
	GroupDescInodeBitmapCsumLoAt = 26
	GroupDescItableUnusedAt      = 28
	GroupDescChecksumAt          = 30
)

// GroupDesc is a view on a struct ext2_group_desc.
type GroupDesc struct{ b *[GroupDescLen]byte }

// GroupDescOf returns the view on the beginning of b.
// b has at least GroupDescLen bytes.
func GroupDescOf(b []byte) GroupDesc {
	return GroupDesc{(*[GroupDescLen]byte)(b)}
}

func (v GroupDesc) BlockBitmap() uint32 {
	return binary.LittleEndian.Uint32(v.b[GroupDescBlockBitmapAt:])
}
func (v GroupDesc) InodeBitmap() uint32 {
	return binary.LittleEndian.Uint32(v.b[GroupDescInodeBitmapAt:])
}
func (v GroupDesc) InodeTable() uint32 {
	return binary.LittleEndian.Uint32(v.b[GroupDescInodeTableAt:])
}
func (v GroupDesc) FreeBlocksCount() uint16 {
	return binary.LittleEndian.Uint16(v.b[GroupDescFreeBlocksCountAt:])
}
func (v GroupDesc) FreeInodesCount() uint16 {
	return binary.LittleEndian.Uint16(v.b[GroupDescFreeInodesCountAt:])
}
func (v GroupDesc) UsedDirsCount() uint16 {
	return binary.LittleEndian.Uint16(v.b[GroupDescUsedDirsCountAt:])
}
func (v GroupDesc) Flags() uint16 {
	return binary.LittleEndian.Uint16(v.b[GroupDescFlagsAt:])
}
func (v GroupDesc) ExcludeBitmapLo() uint32 {
	return binary.LittleEndian.Uint32(v.b[GroupDescExcludeBitmapLoAt:])
}
func (v GroupDesc) BlockBitmapCsumLo() uint16 {
	return binary.LittleEndian.Uint16(v.b[GroupDescBlockBitmapCsumLoAt:])
}
func (v GroupDesc) InodeBitmapCsumLo() uint16 {
	return binary.LittleEndian.Uint16(v.b[GroupDescInodeBitmapCsumLoAt:])
}
func (v GroupDesc) ItableUnused() uint16 {
	return binary.LittleEndian.Uint16(v.b[GroupDescItableUnusedAt:])
}
func (v GroupDesc) Checksum() uint16 {
	return binary.LittleEndian.Uint16(v.b[GroupDescChecksumAt:])
}

// Size of struct ext2_inode in bytes, and the offsets of its members.
const (
	InodeLen = 128

	InodeModeAt        = 0
	InodeUIDAt         = 2
	InodeSizeAt        = 4
	InodeAtimeAt       = 8
	InodeCtimeAt       = 12
	InodeMtimeAt       = 16
	InodeDtimeAt       = 20
	InodeGIDAt         = 24
	InodeLinksCountAt  = 26
	InodeBlocksAt      = 28
	InodeFlagsAt       = 32
	InodeVersionAt     = 36
	InodeBlock0At      = 40
	InodeBlock1At      = 44
	InodeBlock2At      = 48
	InodeBlock3At      = 52
	InodeBlock4At      = 56
	InodeBlock5At      = 60
	InodeBlock6At      = 64
	InodeBlock7At      = 68
	InodeBlock8At      = 72
	InodeBlock9At      = 76
	InodeBlock10At     = 80
	InodeBlock11At     = 84
	InodeBlock12At     = 88
	InodeBlock13At     = 92
	InodeBlock14At     = 96
	InodeGenerationAt  = 100
	InodeFileACLAt     = 104
	InodeSizeHighAt    = 108
	InodeFaddrAt       = 112
	InodeBlocksHighAt  = 116
	InodeFileACLHighAt = 118
	InodeUIDHighAt     = 120
	InodeGIDHighAt     = 122
	InodeChecksumLoAt  = 124
)

// Size of struct ext2_inode_large in bytes, and the offsets of its members.
const (
	InodeLargeLen = 160

	InodeLargeExtraIsizeAt  = 128
	InodeLargeChecksumHiAt  = 130
	InodeLargeCtimeExtraAt  = 132
	InodeLargeMtimeExtraAt  = 136
	InodeLargeAtimeExtraAt  = 140
	InodeLargeCrtimeAt      = 144
	InodeLargeCrtimeExtraAt = 148
	InodeLargeVersionHiAt   = 152
	InodeLargeProjidAt      = 156
)

// InodeLarge is a view on a struct ext2_inode_large.
type InodeLarge struct{ b *[InodeLargeLen]byte }

// InodeLargeOf returns the view on the beginning of b.
// b has at least InodeLargeLen bytes.
func InodeLargeOf(b []byte) InodeLarge {
	return InodeLarge{(*[InodeLargeLen]byte)(b)}
}

func (v InodeLarge) ExtraIsize() uint16 {
	return binary.LittleEndian.Uint16(v.b[InodeLargeExtraIsizeAt:])
}
func (v InodeLarge) ChecksumHi() uint16 {
	return binary.LittleEndian.Uint16(v.b[InodeLargeChecksumHiAt:])
}
func (v InodeLarge) CtimeExtra() uint32 {
	return binary.LittleEndian.Uint32(v.b[InodeLargeCtimeExtraAt:])
}
func (v InodeLarge) MtimeExtra() uint32 {
	return binary.LittleEndian.Uint32(v.b[InodeLargeMtimeExtraAt:])
}
func (v InodeLarge) AtimeExtra() uint32 {
	return binary.LittleEndian.Uint32(v.b[InodeLargeAtimeExtraAt:])
}
func (v InodeLarge) Crtime() uint32 {
	return binary.LittleEndian.Uint32(v.b[InodeLargeCrtimeAt:])
}
func (v InodeLarge) CrtimeExtra() uint32 {
	return binary.LittleEndian.Uint32(v.b[InodeLargeCrtimeExtraAt:])
}
func (v InodeLarge) VersionHi() uint32 {
	return binary.LittleEndian.Uint32(v.b[InodeLargeVersionHiAt:])
}
func (v InodeLarge) Projid() uint32 {
	return binary.LittleEndian.Uint32(v.b[InodeLargeProjidAt:])
}

// Size of struct ext2_dir_entry_2 in bytes, and the offsets of its members.
const (
	DirentLen = 8

	DirentInodeAt    = 0
	DirentRecLenAt   = 4
	DirentNameLenAt  = 6
	DirentFileTypeAt = 7
	DirentNameAt     = 8
)

// DirentHead is a view on a struct ext2_dir_entry_2.
type DirentHead struct{ b *[DirentLen]byte }

// DirentHeadOf returns the view on the beginning of b.
// b has at least DirentLen bytes.
func DirentHeadOf(b []byte) DirentHead {
	return DirentHead{(*[DirentLen]byte)(b)}
}

func (v DirentHead) Inode() uint32 {
	return binary.LittleEndian.Uint32(v.b[DirentInodeAt:])
}
func (v DirentHead) SetInode(n uint32) {
	binary.LittleEndian.PutUint32(v.b[DirentInodeAt:], n)
}
func (v DirentHead) RecLen() uint16 {
	return binary.LittleEndian.Uint16(v.b[DirentRecLenAt:])
}
func (v DirentHead) SetRecLen(n uint16) {
	binary.LittleEndian.PutUint16(v.b[DirentRecLenAt:], n)
}
func (v DirentHead) NameLen() uint8      { return v.b[DirentNameLenAt] }
func (v DirentHead) SetNameLen(n uint8)  { v.b[DirentNameLenAt] = n }
func (v DirentHead) FileType() uint8     { return v.b[DirentFileTypeAt] }
func (v DirentHead) SetFileType(n uint8) { v.b[DirentFileTypeAt] = n }

// Size of struct dx_root_info in bytes, and the offsets of its members.
const (
	IndexHeadLen = 12

	IndexHeadReservedZeroAt   = 0
	IndexHeadHashVersionAt    = 4
	IndexHeadInfoLengthAt     = 5
	IndexHeadIndirectLevelsAt = 6
	IndexHeadUnusedFlagsAt    = 7
	IndexHeadLimitAt          = 8
	IndexHeadCountAt          = 10
)

// IndexHead is a view on a struct dx_root_info.
type IndexHead struct{ b *[IndexHeadLen]byte }

// IndexHeadOf returns the view on the beginning of b.
// b has at least IndexHeadLen bytes.
func IndexHeadOf(b []byte) IndexHead {
	return IndexHead{(*[IndexHeadLen]byte)(b)}
}

func (v IndexHead) ReservedZero() uint32 {
	return binary.LittleEndian.Uint32(v.b[IndexHeadReservedZeroAt:])
}
func (v IndexHead) HashVersion() uint8    { return v.b[IndexHeadHashVersionAt] }
func (v IndexHead) InfoLength() uint8     { return v.b[IndexHeadInfoLengthAt] }
func (v IndexHead) IndirectLevels() uint8 { return v.b[IndexHeadIndirectLevelsAt] }
func (v IndexHead) UnusedFlags() uint8    { return v.b[IndexHeadUnusedFlagsAt] }
func (v IndexHead) Limit() uint16 {
	return binary.LittleEndian.Uint16(v.b[IndexHeadLimitAt:])
}
func (v IndexHead) Count() uint16 {
	return binary.LittleEndian.Uint16(v.b[IndexHeadCountAt:])
}
func (v IndexHead) SetCount(n uint16) {
	binary.LittleEndian.PutUint16(v.b[IndexHeadCountAt:], n)
}

// Size of struct dx_entry in bytes, and the offsets of its members.
const (
	IndexEntryLen = 8

	IndexEntryHashAt  = 0
	IndexEntryBlockAt = 4
)

// IndexEntry is a view on a struct dx_entry.
type IndexEntry struct{ b *[IndexEntryLen]byte }

// IndexEntryOf returns the view on the beginning of b.
// b has at least IndexEntryLen bytes.
func IndexEntryOf(b []byte) IndexEntry {
	return IndexEntry{(*[IndexEntryLen]byte)(b)}
}

func (v IndexEntry) Hash() uint32 {
	return binary.LittleEndian.Uint32(v.b[IndexEntryHashAt:])
}
func (v IndexEntry) Block() uint32 {
	return binary.LittleEndian.Uint32(v.b[IndexEntryBlockAt:])
}

// Size of struct ext2_ext_attr_header in bytes, and the offsets of its members.
const (
	XattrHeadLen = 32

	XattrHeadMagicAt    = 0
	XattrHeadRefcountAt = 4
	XattrHeadBlocksAt   = 8
	XattrHeadHashAt     = 12
	XattrHeadChecksumAt = 16
)

// XattrHead is a view on a struct ext2_ext_attr_header.
type XattrHead struct{ b *[XattrHeadLen]byte }

// XattrHeadOf returns the view on the beginning of b.
// b has at least XattrHeadLen bytes.
func XattrHeadOf(b []byte) XattrHead {
	return XattrHead{(*[XattrHeadLen]byte)(b)}
}

func (v XattrHead) Magic() uint32 {
	return binary.LittleEndian.Uint32(v.b[XattrHeadMagicAt:])
}
func (v XattrHead) Refcount() uint32 {
	return binary.LittleEndian.Uint32(v.b[XattrHeadRefcountAt:])
}
func (v XattrHead) Blocks() uint32 {
	return binary.LittleEndian.Uint32(v.b[XattrHeadBlocksAt:])
}
func (v XattrHead) Hash() uint32 {
	return binary.LittleEndian.Uint32(v.b[XattrHeadHashAt:])
}
func (v XattrHead) Checksum() uint32 {
	return binary.LittleEndian.Uint32(v.b[XattrHeadChecksumAt:])
}

// Size of struct ext2_ext_attr_entry in bytes, and the offsets of its members.
const (
	XattrEntryLen = 16

	XattrEntryNameLenAt   = 0
	XattrEntryNameIndexAt = 1
	XattrEntryValueOffsAt = 2
	XattrEntryValueInumAt = 4
	XattrEntryValueSizeAt = 8
	XattrEntryHashAt      = 12
	XattrEntryNameAt      = 16
)

// XattrEntry is a view on a struct ext2_ext_attr_entry.
type XattrEntry struct{ b *[XattrEntryLen]byte }

// XattrEntryOf returns the view on the beginning of b.
// b has at least XattrEntryLen bytes.
func XattrEntryOf(b []byte) XattrEntry {
	return XattrEntry{(*[XattrEntryLen]byte)(b)}
}

func (v XattrEntry) NameLen() uint8   { return v.b[XattrEntryNameLenAt] }
func (v XattrEntry) NameIndex() uint8 { return v.b[XattrEntryNameIndexAt] }
func (v XattrEntry) ValueOffs() uint16 {
	return binary.LittleEndian.Uint16(v.b[XattrEntryValueOffsAt:])
}
func (v XattrEntry) ValueInum() uint32 {
	return binary.LittleEndian.Uint32(v.b[XattrEntryValueInumAt:])
}
func (v XattrEntry) ValueSize() uint32 {
	return binary.LittleEndian.Uint32(v.b[XattrEntryValueSizeAt:])
}
func (v XattrEntry) Hash() uint32 {
	return binary.LittleEndian.Uint32(v.b[XattrEntryHashAt:])
}

// Size of struct ext4_acl_header in bytes, and the offsets of its members.
const (
	ACLHeadLen = 4

	ACLHeadVersionAt = 0
)

// aclHead is a view on a struct ext4_acl_header.
type aclHead struct{ b *[ACLHeadLen]byte }

// aclHeadOf returns the view on the beginning of b.
// b has at least ACLHeadLen bytes.
func aclHeadOf(b []byte) aclHead {
	return aclHead{(*[ACLHeadLen]byte)(b)}
}

func (v aclHead) Version() uint32 {
	return binary.LittleEndian.Uint32(v.b[ACLHeadVersionAt:])
}

// Size of struct ext4_acl_entry in bytes, and the offsets of its members.
const (
	ACLEntryLen = 4

	ACLEntryTagAt  = 0
	ACLEntryPermAt = 2
)

// aclEntry is a view on a struct ext4_acl_entry.
type aclEntry struct{ b *[ACLEntryLen]byte }

// aclEntryOf returns the view on the beginning of b.
// b has at least ACLEntryLen bytes.
func aclEntryOf(b []byte) aclEntry {
	return aclEntry{(*[ACLEntryLen]byte)(b)}
}

func (v aclEntry) Tag() uint16 {
	return binary.LittleEndian.Uint16(v.b[ACLEntryTagAt:])
}
func (v aclEntry) Perm() uint16 {
	return binary.LittleEndian.Uint16(v.b[ACLEntryPermAt:])
}
