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

// GroupDescOf returns the view on the beginning of b, which has GroupDescLen bytes at least.
func GroupDescOf(b []byte) GroupDesc { return GroupDesc{(*[GroupDescLen]byte)(b)} }

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
func (v GroupDesc) Flags() uint16 { return binary.LittleEndian.Uint16(v.b[GroupDescFlagsAt:]) }
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
func (v GroupDesc) Checksum() uint16 { return binary.LittleEndian.Uint16(v.b[GroupDescChecksumAt:]) }

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

// InodeLargeOf returns the view on the beginning of b, which has InodeLargeLen bytes at least.
func InodeLargeOf(b []byte) InodeLarge { return InodeLarge{(*[InodeLargeLen]byte)(b)} }

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
func (v InodeLarge) Crtime() uint32 { return binary.LittleEndian.Uint32(v.b[InodeLargeCrtimeAt:]) }
func (v InodeLarge) CrtimeExtra() uint32 {
	return binary.LittleEndian.Uint32(v.b[InodeLargeCrtimeExtraAt:])
}
func (v InodeLarge) VersionHi() uint32 {
	return binary.LittleEndian.Uint32(v.b[InodeLargeVersionHiAt:])
}
func (v InodeLarge) Projid() uint32 { return binary.LittleEndian.Uint32(v.b[InodeLargeProjidAt:]) }

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

// DirentHeadOf returns the view on the beginning of b, which has DirentLen bytes at least.
func DirentHeadOf(b []byte) DirentHead { return DirentHead{(*[DirentLen]byte)(b)} }

func (v DirentHead) Inode() uint32       { return binary.LittleEndian.Uint32(v.b[DirentInodeAt:]) }
func (v DirentHead) SetInode(n uint32)   { binary.LittleEndian.PutUint32(v.b[DirentInodeAt:], n) }
func (v DirentHead) RecLen() uint16      { return binary.LittleEndian.Uint16(v.b[DirentRecLenAt:]) }
func (v DirentHead) SetRecLen(n uint16)  { binary.LittleEndian.PutUint16(v.b[DirentRecLenAt:], n) }
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

// IndexHeadOf returns the view on the beginning of b, which has IndexHeadLen bytes at least.
func IndexHeadOf(b []byte) IndexHead { return IndexHead{(*[IndexHeadLen]byte)(b)} }

func (v IndexHead) ReservedZero() uint32 {
	return binary.LittleEndian.Uint32(v.b[IndexHeadReservedZeroAt:])
}
func (v IndexHead) HashVersion() uint8    { return v.b[IndexHeadHashVersionAt] }
func (v IndexHead) InfoLength() uint8     { return v.b[IndexHeadInfoLengthAt] }
func (v IndexHead) IndirectLevels() uint8 { return v.b[IndexHeadIndirectLevelsAt] }
func (v IndexHead) UnusedFlags() uint8    { return v.b[IndexHeadUnusedFlagsAt] }
func (v IndexHead) Limit() uint16         { return binary.LittleEndian.Uint16(v.b[IndexHeadLimitAt:]) }
func (v IndexHead) Count() uint16         { return binary.LittleEndian.Uint16(v.b[IndexHeadCountAt:]) }
func (v IndexHead) SetCount(n uint16)     { binary.LittleEndian.PutUint16(v.b[IndexHeadCountAt:], n) }

// Size of struct dx_entry in bytes, and the offsets of its members.
const (
	IndexEntryLen = 8

	IndexEntryHashAt  = 0
	IndexEntryBlockAt = 4
)

// IndexEntry is a view on a struct dx_entry.
type IndexEntry struct{ b *[IndexEntryLen]byte }

// IndexEntryOf returns the view on the beginning of b, which has IndexEntryLen bytes at least.
func IndexEntryOf(b []byte) IndexEntry { return IndexEntry{(*[IndexEntryLen]byte)(b)} }

func (v IndexEntry) Hash() uint32  { return binary.LittleEndian.Uint32(v.b[IndexEntryHashAt:]) }
func (v IndexEntry) Block() uint32 { return binary.LittleEndian.Uint32(v.b[IndexEntryBlockAt:]) }

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

// XattrHeadOf returns the view on the beginning of b, which has XattrHeadLen bytes at least.
func XattrHeadOf(b []byte) XattrHead { return XattrHead{(*[XattrHeadLen]byte)(b)} }

func (v XattrHead) Magic() uint32    { return binary.LittleEndian.Uint32(v.b[XattrHeadMagicAt:]) }
func (v XattrHead) Refcount() uint32 { return binary.LittleEndian.Uint32(v.b[XattrHeadRefcountAt:]) }
func (v XattrHead) Blocks() uint32   { return binary.LittleEndian.Uint32(v.b[XattrHeadBlocksAt:]) }
func (v XattrHead) Hash() uint32     { return binary.LittleEndian.Uint32(v.b[XattrHeadHashAt:]) }
func (v XattrHead) Checksum() uint32 { return binary.LittleEndian.Uint32(v.b[XattrHeadChecksumAt:]) }

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

// XattrEntryOf returns the view on the beginning of b, which has XattrEntryLen bytes at least.
func XattrEntryOf(b []byte) XattrEntry { return XattrEntry{(*[XattrEntryLen]byte)(b)} }

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
func (v XattrEntry) Hash() uint32 { return binary.LittleEndian.Uint32(v.b[XattrEntryHashAt:]) }

// Size of struct ext4_acl_header in bytes, and the offsets of its members.
const (
	ACLHeadLen = 4

	ACLHeadVersionAt = 0
)

// aclHead is a view on a struct ext4_acl_header.
type aclHead struct{ b *[ACLHeadLen]byte }

// aclHeadOf returns the view on the beginning of b, which has ACLHeadLen bytes at least.
func aclHeadOf(b []byte) aclHead { return aclHead{(*[ACLHeadLen]byte)(b)} }

func (v aclHead) Version() uint32 { return binary.LittleEndian.Uint32(v.b[ACLHeadVersionAt:]) }

// Size of struct ext4_acl_entry in bytes, and the offsets of its members.
const (
	ACLEntryLen = 4

	ACLEntryTagAt  = 0
	ACLEntryPermAt = 2
)

// aclEntry is a view on a struct ext4_acl_entry.
type aclEntry struct{ b *[ACLEntryLen]byte }

// aclEntryOf returns the view on the beginning of b, which has ACLEntryLen bytes at least.
func aclEntryOf(b []byte) aclEntry { return aclEntry{(*[ACLEntryLen]byte)(b)} }

func (v aclEntry) Tag() uint16  { return binary.LittleEndian.Uint16(v.b[ACLEntryTagAt:]) }
func (v aclEntry) Perm() uint16 { return binary.LittleEndian.Uint16(v.b[ACLEntryPermAt:]) }

// Size of struct journal_header_s in bytes, and the offsets of its members.
const (
	JournalHeaderLen = 12

	JournalHeaderMagicAt     = 0
	JournalHeaderBlocktypeAt = 4
	JournalHeaderSequenceAt  = 8
)

// JournalHeader is a view on a struct journal_header_s.
type JournalHeader struct{ b *[JournalHeaderLen]byte }

// JournalHeaderOf returns the view on the beginning of b, which has JournalHeaderLen bytes at least.
func JournalHeaderOf(b []byte) JournalHeader { return JournalHeader{(*[JournalHeaderLen]byte)(b)} }

func (v JournalHeader) Magic() uint32     { return binary.BigEndian.Uint32(v.b[JournalHeaderMagicAt:]) }
func (v JournalHeader) SetMagic(n uint32) { binary.BigEndian.PutUint32(v.b[JournalHeaderMagicAt:], n) }
func (v JournalHeader) Blocktype() uint32 {
	return binary.BigEndian.Uint32(v.b[JournalHeaderBlocktypeAt:])
}
func (v JournalHeader) SetBlocktype(n uint32) {
	binary.BigEndian.PutUint32(v.b[JournalHeaderBlocktypeAt:], n)
}
func (v JournalHeader) Sequence() uint32 {
	return binary.BigEndian.Uint32(v.b[JournalHeaderSequenceAt:])
}
func (v JournalHeader) SetSequence(n uint32) {
	binary.BigEndian.PutUint32(v.b[JournalHeaderSequenceAt:], n)
}

// Size of struct journal_superblock_s in bytes, and the offsets of its members.
const (
	JournalSuperLen = 1024

	JournalSuperMagicAt           = 0
	JournalSuperBlocktypeAt       = 4
	JournalSuperHSequenceAt       = 8
	JournalSuperBlocksizeAt       = 12
	JournalSuperMaxlenAt          = 16
	JournalSuperFirstAt           = 20
	JournalSuperSequenceAt        = 24
	JournalSuperStartAt           = 28
	JournalSuperErrnoAt           = 32
	JournalSuperFeatureCompatAt   = 36
	JournalSuperFeatureIncompatAt = 40
	JournalSuperFeatureROCompatAt = 44
	JournalSuperUUIDAt            = 48
	JournalSuperNrUsersAt         = 64
	JournalSuperDynsuperAt        = 68
	JournalSuperMaxTransactionAt  = 72
	JournalSuperMaxTransDataAt    = 76
	JournalSuperChecksumTypeAt    = 80
	JournalSuperChecksumAt        = 252
	JournalSuperUsersAt           = 256
)

// journalSuperblock is a view on a struct journal_superblock_s.
type journalSuperblock struct{ b *[JournalSuperLen]byte }

// journalSuperblockOf returns the view on the beginning of b, which has JournalSuperLen bytes at least.
func journalSuperblockOf(b []byte) journalSuperblock {
	return journalSuperblock{(*[JournalSuperLen]byte)(b)}
}

func (v journalSuperblock) Magic() uint32 { return binary.BigEndian.Uint32(v.b[JournalSuperMagicAt:]) }
func (v journalSuperblock) Blocktype() uint32 {
	return binary.BigEndian.Uint32(v.b[JournalSuperBlocktypeAt:])
}
func (v journalSuperblock) HSequence() uint32 {
	return binary.BigEndian.Uint32(v.b[JournalSuperHSequenceAt:])
}
func (v journalSuperblock) Blocksize() uint32 {
	return binary.BigEndian.Uint32(v.b[JournalSuperBlocksizeAt:])
}
func (v journalSuperblock) Maxlen() uint32 {
	return binary.BigEndian.Uint32(v.b[JournalSuperMaxlenAt:])
}
func (v journalSuperblock) First() uint32 { return binary.BigEndian.Uint32(v.b[JournalSuperFirstAt:]) }
func (v journalSuperblock) Sequence() uint32 {
	return binary.BigEndian.Uint32(v.b[JournalSuperSequenceAt:])
}
func (v journalSuperblock) Start() uint32 { return binary.BigEndian.Uint32(v.b[JournalSuperStartAt:]) }
func (v journalSuperblock) Errno() uint32 { return binary.BigEndian.Uint32(v.b[JournalSuperErrnoAt:]) }
func (v journalSuperblock) FeatureCompat() uint32 {
	return binary.BigEndian.Uint32(v.b[JournalSuperFeatureCompatAt:])
}
func (v journalSuperblock) FeatureIncompat() uint32 {
	return binary.BigEndian.Uint32(v.b[JournalSuperFeatureIncompatAt:])
}
func (v journalSuperblock) FeatureROCompat() uint32 {
	return binary.BigEndian.Uint32(v.b[JournalSuperFeatureROCompatAt:])
}
func (v journalSuperblock) UUID() []byte { return v.b[JournalSuperUUIDAt : JournalSuperUUIDAt+16] }
func (v journalSuperblock) NrUsers() uint32 {
	return binary.BigEndian.Uint32(v.b[JournalSuperNrUsersAt:])
}
func (v journalSuperblock) Dynsuper() uint32 {
	return binary.BigEndian.Uint32(v.b[JournalSuperDynsuperAt:])
}
func (v journalSuperblock) MaxTransaction() uint32 {
	return binary.BigEndian.Uint32(v.b[JournalSuperMaxTransactionAt:])
}
func (v journalSuperblock) MaxTransData() uint32 {
	return binary.BigEndian.Uint32(v.b[JournalSuperMaxTransDataAt:])
}
func (v journalSuperblock) ChecksumType() uint8 { return v.b[JournalSuperChecksumTypeAt] }
func (v journalSuperblock) Checksum() uint32 {
	return binary.BigEndian.Uint32(v.b[JournalSuperChecksumAt:])
}
func (v journalSuperblock) SetChecksum(n uint32) {
	binary.BigEndian.PutUint32(v.b[JournalSuperChecksumAt:], n)
}
func (v journalSuperblock) Users() uint32 { return binary.BigEndian.Uint32(v.b[JournalSuperUsersAt:]) }

// Size of struct journal_block_tag_s in bytes, and the offsets of its members.
const (
	TagLen = 8

	TagBlocknrAt = 0
	TagFlagsAt   = 6
)

// tagHead is a view on a struct journal_block_tag_s.
type tagHead struct{ b *[TagLen]byte }

// tagHeadOf returns the view on the beginning of b, which has TagLen bytes at least.
func tagHeadOf(b []byte) tagHead { return tagHead{(*[TagLen]byte)(b)} }

func (v tagHead) Blocknr() uint32 { return binary.BigEndian.Uint32(v.b[TagBlocknrAt:]) }
func (v tagHead) Flags() uint16   { return binary.BigEndian.Uint16(v.b[TagFlagsAt:]) }

// Size of struct journal_block_tag_s in bytes, and the offsets of its members.
const (
	TagSumLen = 6

	TagSumChecksumAt = 4
)

// tagSum is a view on a struct journal_block_tag_s.
type tagSum struct{ b *[TagSumLen]byte }

// tagSumOf returns the view on the beginning of b, which has TagSumLen bytes at least.
func tagSumOf(b []byte) tagSum { return tagSum{(*[TagSumLen]byte)(b)} }

func (v tagSum) Checksum() uint16     { return binary.BigEndian.Uint16(v.b[TagSumChecksumAt:]) }
func (v tagSum) SetChecksum(n uint16) { binary.BigEndian.PutUint16(v.b[TagSumChecksumAt:], n) }

// Size of struct journal_block_tag_s in bytes, and the offsets of its members.
const (
	Tag64Len = 12

	Tag64BlocknrHighAt = 8
)

// tag64 is a view on a struct journal_block_tag_s.
type tag64 struct{ b *[Tag64Len]byte }

// tag64Of returns the view on the beginning of b, which has Tag64Len bytes at least.
func tag64Of(b []byte) tag64 { return tag64{(*[Tag64Len]byte)(b)} }

func (v tag64) BlocknrHigh() uint32 { return binary.BigEndian.Uint32(v.b[Tag64BlocknrHighAt:]) }

// Size of struct journal_block_tag3_s in bytes, and the offsets of its members.
const (
	Tag3Len = 16

	Tag3BlocknrHighAt = 8
	Tag3ChecksumAt    = 12
)

// tag3 is a view on a struct journal_block_tag3_s.
type tag3 struct{ b *[Tag3Len]byte }

// tag3Of returns the view on the beginning of b, which has Tag3Len bytes at least.
func tag3Of(b []byte) tag3 { return tag3{(*[Tag3Len]byte)(b)} }

func (v tag3) BlocknrHigh() uint32  { return binary.BigEndian.Uint32(v.b[Tag3BlocknrHighAt:]) }
func (v tag3) Checksum() uint32     { return binary.BigEndian.Uint32(v.b[Tag3ChecksumAt:]) }
func (v tag3) SetChecksum(n uint32) { binary.BigEndian.PutUint32(v.b[Tag3ChecksumAt:], n) }

// Size of struct commit_header in bytes, and the offsets of its members.
const (
	CommitLen = 60

	CommitMagicAt      = 0
	CommitBlocktypeAt  = 4
	CommitSequenceAt   = 8
	CommitChksumTypeAt = 12
	CommitChksumSizeAt = 13
	CommitChksumAt     = 16
	CommitCommitSecAt  = 52
)

// commitBlock is a view on a struct commit_header.
type commitBlock struct{ b *[CommitLen]byte }

// commitBlockOf returns the view on the beginning of b, which has CommitLen bytes at least.
func commitBlockOf(b []byte) commitBlock { return commitBlock{(*[CommitLen]byte)(b)} }

func (v commitBlock) Magic() uint32      { return binary.BigEndian.Uint32(v.b[CommitMagicAt:]) }
func (v commitBlock) Blocktype() uint32  { return binary.BigEndian.Uint32(v.b[CommitBlocktypeAt:]) }
func (v commitBlock) Sequence() uint32   { return binary.BigEndian.Uint32(v.b[CommitSequenceAt:]) }
func (v commitBlock) ChksumType() uint8  { return v.b[CommitChksumTypeAt] }
func (v commitBlock) ChksumSize() uint8  { return v.b[CommitChksumSizeAt] }
func (v commitBlock) Chksum() uint32     { return binary.BigEndian.Uint32(v.b[CommitChksumAt:]) }
func (v commitBlock) SetChksum(n uint32) { binary.BigEndian.PutUint32(v.b[CommitChksumAt:], n) }
func (v commitBlock) CommitSec() uint32  { return binary.BigEndian.Uint32(v.b[CommitCommitSecAt:]) }

// Size of struct jbd2_journal_revoke_header_s in bytes, and the offsets of its members.
const (
	RevokeHeadLen = 16

	RevokeHeadMagicAt     = 0
	RevokeHeadBlocktypeAt = 4
	RevokeHeadSequenceAt  = 8
	RevokeHeadCountAt     = 12
)

// RevokeHead is a view on a struct jbd2_journal_revoke_header_s.
type RevokeHead struct{ b *[RevokeHeadLen]byte }

// RevokeHeadOf returns the view on the beginning of b, which has RevokeHeadLen bytes at least.
func RevokeHeadOf(b []byte) RevokeHead { return RevokeHead{(*[RevokeHeadLen]byte)(b)} }

func (v RevokeHead) Magic() uint32     { return binary.BigEndian.Uint32(v.b[RevokeHeadMagicAt:]) }
func (v RevokeHead) Blocktype() uint32 { return binary.BigEndian.Uint32(v.b[RevokeHeadBlocktypeAt:]) }
func (v RevokeHead) Sequence() uint32  { return binary.BigEndian.Uint32(v.b[RevokeHeadSequenceAt:]) }
func (v RevokeHead) Count() uint32     { return binary.BigEndian.Uint32(v.b[RevokeHeadCountAt:]) }
func (v RevokeHead) SetCount(n uint32) { binary.BigEndian.PutUint32(v.b[RevokeHeadCountAt:], n) }
