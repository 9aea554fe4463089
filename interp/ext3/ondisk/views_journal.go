// Code generated from the tables of fields by TestViews -update. DO NOT EDIT.

package ondisk

import "encoding/binary"

// Size of struct journal_header_s in bytes, and the offsets of its members.
const (
	JournalHeaderLen = 12

	JournalHeaderMagicAt     = 0
	JournalHeaderBlocktypeAt = 4
	JournalHeaderSequenceAt  = 8
)

// JournalHeader is a view on a struct journal_header_s.
type JournalHeader struct{ b *[JournalHeaderLen]byte }

// JournalHeaderOf returns the view on the beginning of b.
// b has at least JournalHeaderLen bytes.
func JournalHeaderOf(b []byte) JournalHeader {
	return JournalHeader{(*[JournalHeaderLen]byte)(b)}
}

func (v JournalHeader) Magic() uint32 {
	return binary.BigEndian.Uint32(v.b[JournalHeaderMagicAt:])
}
func (v JournalHeader) SetMagic(n uint32) {
	binary.BigEndian.PutUint32(v.b[JournalHeaderMagicAt:], n)
}
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

// journalSuperblockOf returns the view on the beginning of b.
// b has at least JournalSuperLen bytes.
func journalSuperblockOf(b []byte) journalSuperblock {
	return journalSuperblock{(*[JournalSuperLen]byte)(b)}
}

func (v journalSuperblock) Magic() uint32 {
	return binary.BigEndian.Uint32(v.b[JournalSuperMagicAt:])
}
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
func (v journalSuperblock) First() uint32 {
	return binary.BigEndian.Uint32(v.b[JournalSuperFirstAt:])
}
func (v journalSuperblock) Sequence() uint32 {
	return binary.BigEndian.Uint32(v.b[JournalSuperSequenceAt:])
}
func (v journalSuperblock) Start() uint32 {
	return binary.BigEndian.Uint32(v.b[JournalSuperStartAt:])
}
func (v journalSuperblock) Errno() uint32 {
	return binary.BigEndian.Uint32(v.b[JournalSuperErrnoAt:])
}
func (v journalSuperblock) FeatureCompat() uint32 {
	return binary.BigEndian.Uint32(v.b[JournalSuperFeatureCompatAt:])
}
func (v journalSuperblock) FeatureIncompat() uint32 {
	return binary.BigEndian.Uint32(v.b[JournalSuperFeatureIncompatAt:])
}
func (v journalSuperblock) FeatureROCompat() uint32 {
	return binary.BigEndian.Uint32(v.b[JournalSuperFeatureROCompatAt:])
}
func (v journalSuperblock) UUID() []byte {
	return v.b[JournalSuperUUIDAt : JournalSuperUUIDAt+16]
}
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
func (v journalSuperblock) ChecksumType() uint8 {
	return v.b[JournalSuperChecksumTypeAt]
}
func (v journalSuperblock) Checksum() uint32 {
	return binary.BigEndian.Uint32(v.b[JournalSuperChecksumAt:])
}
func (v journalSuperblock) SetChecksum(n uint32) {
	binary.BigEndian.PutUint32(v.b[JournalSuperChecksumAt:], n)
}
func (v journalSuperblock) Users() uint32 {
	return binary.BigEndian.Uint32(v.b[JournalSuperUsersAt:])
}

// Size of struct journal_block_tag_s in bytes, and the offsets of its members.
const (
	TagLen = 8

	TagBlocknrAt = 0
	TagFlagsAt   = 6
)

// tagHead is a view on a struct journal_block_tag_s.
type tagHead struct{ b *[TagLen]byte }

// tagHeadOf returns the view on the beginning of b.
// b has at least TagLen bytes.
func tagHeadOf(b []byte) tagHead {
	return tagHead{(*[TagLen]byte)(b)}
}

func (v tagHead) Blocknr() uint32 {
	return binary.BigEndian.Uint32(v.b[TagBlocknrAt:])
}
func (v tagHead) Flags() uint16 { return binary.BigEndian.Uint16(v.b[TagFlagsAt:]) }

// Size of struct journal_block_tag_s in bytes, and the offsets of its members.
const (
	TagSumLen = 6

	TagSumChecksumAt = 4
)

// tagSum is a view on a struct journal_block_tag_s.
type tagSum struct{ b *[TagSumLen]byte }

// tagSumOf returns the view on the beginning of b.
// b has at least TagSumLen bytes.
func tagSumOf(b []byte) tagSum {
	return tagSum{(*[TagSumLen]byte)(b)}
}

func (v tagSum) Checksum() uint16 {
	return binary.BigEndian.Uint16(v.b[TagSumChecksumAt:])
}
func (v tagSum) SetChecksum(n uint16) {
	binary.BigEndian.PutUint16(v.b[TagSumChecksumAt:], n)
}

// Size of struct journal_block_tag_s in bytes, and the offsets of its members.
const (
	Tag64Len = 12

	Tag64BlocknrHighAt = 8
)

// tag64 is a view on a struct journal_block_tag_s.
type tag64 struct{ b *[Tag64Len]byte }

// tag64Of returns the view on the beginning of b.
// b has at least Tag64Len bytes.
func tag64Of(b []byte) tag64 {
	return tag64{(*[Tag64Len]byte)(b)}
}

func (v tag64) BlocknrHigh() uint32 {
	return binary.BigEndian.Uint32(v.b[Tag64BlocknrHighAt:])
}

// Size of struct journal_block_tag3_s in bytes, and the offsets of its members.
const (
	Tag3Len = 16

	Tag3BlocknrHighAt = 8
	Tag3ChecksumAt    = 12
)

// tag3 is a view on a struct journal_block_tag3_s.
type tag3 struct{ b *[Tag3Len]byte }

// tag3Of returns the view on the beginning of b.
// b has at least Tag3Len bytes.
func tag3Of(b []byte) tag3 {
	return tag3{(*[Tag3Len]byte)(b)}
}

func (v tag3) BlocknrHigh() uint32 {
	return binary.BigEndian.Uint32(v.b[Tag3BlocknrHighAt:])
}
func (v tag3) Checksum() uint32 {
	return binary.BigEndian.Uint32(v.b[Tag3ChecksumAt:])
}
func (v tag3) SetChecksum(n uint32) {
	binary.BigEndian.PutUint32(v.b[Tag3ChecksumAt:], n)
}

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

// commitBlockOf returns the view on the beginning of b.
// b has at least CommitLen bytes.
func commitBlockOf(b []byte) commitBlock {
	return commitBlock{(*[CommitLen]byte)(b)}
}

func (v commitBlock) Magic() uint32 {
	return binary.BigEndian.Uint32(v.b[CommitMagicAt:])
}
func (v commitBlock) Blocktype() uint32 {
	return binary.BigEndian.Uint32(v.b[CommitBlocktypeAt:])
}
func (v commitBlock) Sequence() uint32 {
	return binary.BigEndian.Uint32(v.b[CommitSequenceAt:])
}
func (v commitBlock) ChksumType() uint8 { return v.b[CommitChksumTypeAt] }
func (v commitBlock) ChksumSize() uint8 { return v.b[CommitChksumSizeAt] }
func (v commitBlock) Chksum() uint32 {
	return binary.BigEndian.Uint32(v.b[CommitChksumAt:])
}
func (v commitBlock) SetChksum(n uint32) {
	binary.BigEndian.PutUint32(v.b[CommitChksumAt:], n)
}
func (v commitBlock) CommitSec() uint32 {
	return binary.BigEndian.Uint32(v.b[CommitCommitSecAt:])
}

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

// RevokeHeadOf returns the view on the beginning of b.
// b has at least RevokeHeadLen bytes.
func RevokeHeadOf(b []byte) RevokeHead {
	return RevokeHead{(*[RevokeHeadLen]byte)(b)}
}

func (v RevokeHead) Magic() uint32 {
	return binary.BigEndian.Uint32(v.b[RevokeHeadMagicAt:])
}
func (v RevokeHead) Blocktype() uint32 {
	return binary.BigEndian.Uint32(v.b[RevokeHeadBlocktypeAt:])
}
func (v RevokeHead) Sequence() uint32 {
	return binary.BigEndian.Uint32(v.b[RevokeHeadSequenceAt:])
}
func (v RevokeHead) Count() uint32 {
	return binary.BigEndian.Uint32(v.b[RevokeHeadCountAt:])
}
func (v RevokeHead) SetCount(n uint32) {
	binary.BigEndian.PutUint32(v.b[RevokeHeadCountAt:], n)
}
