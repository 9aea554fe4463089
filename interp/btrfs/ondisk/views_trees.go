// Code generated from the tables of fields by TestViews -update. DO NOT EDIT.

package ondisk

import "fsward/interp/disk"

// Size of struct btrfs_root_item in bytes, and the offsets of its members.
const (
	RootItemSize = 439

	RootItemGenerationAt   = 160
	RootItemRootDirIDAt    = 168
	RootItemBytenrAt       = 176
	RootItemByteLimitAt    = 184
	RootItemBytesUsedAt    = 192
	RootItemLastSnapshotAt = 200
	RootItemFlagsAt        = 208
	RootItemRefsAt         = 216
	RootItemDropProgressAt = 220
	RootItemDropLevelAt    = 237
	RootItemLevelAt        = 238
	RootItemUUIDAt         = 247
	RootItemReceivedUUIDAt = 279
	RootItemCTransIDAt     = 295
	RootItemOTransIDAt     = 303
	RootItemRTransIDAt     = 319
	RootItemGenerationV2At = 239
	RootItemParentUUIDAt   = 263
	RootItemSTransIDAt     = 311
)

// A RootItem is a view on a struct btrfs_root_item.
type RootItem struct{ disk.Region }

// ViewRootItem returns the view on r, and reports whether r has LegacyRootItemSize bytes.
func ViewRootItem(r disk.Region) (RootItem, bool) {
	return RootItem{r}, r.Len() >= LegacyRootItemSize
}

func (v RootItem) Generation() uint64   { return v.U64(RootItemGenerationAt) }
func (v RootItem) RootDirID() uint64    { return v.U64(RootItemRootDirIDAt) }
func (v RootItem) Bytenr() uint64       { return v.U64(RootItemBytenrAt) }
func (v RootItem) ByteLimit() uint64    { return v.U64(RootItemByteLimitAt) }
func (v RootItem) BytesUsed() uint64    { return v.U64(RootItemBytesUsedAt) }
func (v RootItem) LastSnapshot() uint64 { return v.U64(RootItemLastSnapshotAt) }
func (v RootItem) Flags() uint64        { return v.U64(RootItemFlagsAt) }
func (v RootItem) Refs() uint32         { return v.U32(RootItemRefsAt) }
func (v RootItem) DropProgress() Key    { return ReadKey(v.Region, RootItemDropProgressAt) }
func (v RootItem) DropLevel() uint8     { return v.U8(RootItemDropLevelAt) }
func (v RootItem) Level() uint8         { return v.U8(RootItemLevelAt) }
func (v RootItem) UUID() [16]byte       { return [16]byte(v.Bytes()[RootItemUUIDAt:]) }
func (v RootItem) ReceivedUUID() [16]byte {
	return [16]byte(v.Bytes()[RootItemReceivedUUIDAt:])
}
func (v RootItem) CTransID() uint64     { return v.U64(RootItemCTransIDAt) }
func (v RootItem) OTransID() uint64     { return v.U64(RootItemOTransIDAt) }
func (v RootItem) RTransID() uint64     { return v.U64(RootItemRTransIDAt) }
func (v RootItem) GenerationV2() uint64 { return v.U64(RootItemGenerationV2At) }
func (v RootItem) ParentUUID() [16]byte {
	return [16]byte(v.Bytes()[RootItemParentUUIDAt:])
}
func (v RootItem) STransID() uint64 { return v.U64(RootItemSTransIDAt) }

// Size of struct btrfs_root_ref in bytes, and the offsets of its members.
const (
	RootRefSize = 18

	RootRefDirIDAt    = 0
	RootRefSequenceAt = 8
	RootRefNameLenAt  = 16
)

// A RootRef is a view on a struct btrfs_root_ref.
type RootRef struct{ disk.Region }

// ViewRootRef returns the view on r, and reports whether r has RootRefSize bytes.
func ViewRootRef(r disk.Region) (RootRef, bool) {
	return RootRef{r}, r.Len() >= RootRefSize
}

func (v RootRef) DirID() uint64    { return v.U64(RootRefDirIDAt) }
func (v RootRef) Sequence() uint64 { return v.U64(RootRefSequenceAt) }
func (v RootRef) NameLen() uint16  { return v.U16(RootRefNameLenAt) }

// Size of struct btrfs_qgroup_status_item in bytes, and the offsets of its members.
const (
	QgroupStatusSize = 32

	QgroupStatusVersionAt    = 0
	QgroupStatusGenerationAt = 8
	QgroupStatusFlagsAt      = 16
	QgroupStatusRescanAt     = 24
)

// A QgroupStatus is a view on a struct btrfs_qgroup_status_item.
type QgroupStatus struct{ disk.Region }

// ViewQgroupStatus returns the view on r, and reports whether r has QgroupStatusSize bytes.
func ViewQgroupStatus(r disk.Region) (QgroupStatus, bool) {
	return QgroupStatus{r}, r.Len() >= QgroupStatusSize
}

func (v QgroupStatus) Version() uint64    { return v.U64(QgroupStatusVersionAt) }
func (v QgroupStatus) Generation() uint64 { return v.U64(QgroupStatusGenerationAt) }
func (v QgroupStatus) Flags() uint64      { return v.U64(QgroupStatusFlagsAt) }
func (v QgroupStatus) Rescan() uint64     { return v.U64(QgroupStatusRescanAt) }

// Size of struct btrfs_qgroup_info_item in bytes, and the offsets of its members.
const (
	QgroupInfoSize = 40

	QgroupInfoGenerationAt = 0
	QgroupInfoRferAt       = 8
	QgroupInfoRferCmprAt   = 16
	QgroupInfoExclAt       = 24
	QgroupInfoExclCmprAt   = 32
)

// A QgroupInfo is a view on a struct btrfs_qgroup_info_item.
type QgroupInfo struct{ disk.Region }

// ViewQgroupInfo returns the view on r, and reports whether r has QgroupInfoSize bytes.
func ViewQgroupInfo(r disk.Region) (QgroupInfo, bool) {
	return QgroupInfo{r}, r.Len() >= QgroupInfoSize
}

func (v QgroupInfo) Generation() uint64 { return v.U64(QgroupInfoGenerationAt) }
func (v QgroupInfo) Rfer() uint64       { return v.U64(QgroupInfoRferAt) }
func (v QgroupInfo) RferCmpr() uint64   { return v.U64(QgroupInfoRferCmprAt) }
func (v QgroupInfo) Excl() uint64       { return v.U64(QgroupInfoExclAt) }
func (v QgroupInfo) ExclCmpr() uint64   { return v.U64(QgroupInfoExclCmprAt) }

// Size of struct btrfs_verity_descriptor_item in bytes, and the offsets of its members.
const (
	VerityDescriptorSize = 25

	VerityDescriptorSizeAt       = 0
	VerityDescriptorReservedAt   = 8
	VerityDescriptorEncryptionAt = 24
)

// A VerityDescriptor is a view on a struct btrfs_verity_descriptor_item.
type VerityDescriptor struct{ disk.Region }

// ViewVerityDescriptor returns the view on r, and reports whether r has VerityDescriptorSize bytes.
func ViewVerityDescriptor(r disk.Region) (VerityDescriptor, bool) {
	return VerityDescriptor{r}, r.Len() >= VerityDescriptorSize
}

func (v VerityDescriptor) Size() uint64 { return v.U64(VerityDescriptorSizeAt) }
func (v VerityDescriptor) Reserved() [16]byte {
	return [16]byte(v.Bytes()[VerityDescriptorReservedAt:])
}
func (v VerityDescriptor) Encryption() uint8 {
	return v.U8(VerityDescriptorEncryptionAt)
}
