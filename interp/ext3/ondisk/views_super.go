// Code generated from the tables of fields by TestViews -update. DO NOT EDIT.

package ondisk

import "encoding/binary"

// Size of struct ext2_super_block in bytes, and the offsets of its members.
const (
	SuperLen = 1024

	SuperInodesCountAt          = 0
	SuperBlocksCountAt          = 4
	SuperRBlocksCountAt         = 8
	SuperFreeBlocksCountAt      = 12
	SuperFreeInodesCountAt      = 16
	SuperFirstDataBlockAt       = 20
	SuperLogBlockSizeAt         = 24
	SuperLogClusterSizeAt       = 28
	SuperBlocksPerGroupAt       = 32
	SuperClustersPerGroupAt     = 36
	SuperInodesPerGroupAt       = 40
	SuperMtimeAt                = 44
	SuperWtimeAt                = 48
	SuperMntCountAt             = 52
	SuperMaxMntCountAt          = 54
	SuperMagicAt                = 56
	SuperStateAt                = 58
	SuperErrorsAt               = 60
	SuperMinorRevLevelAt        = 62
	SuperLastcheckAt            = 64
	SuperCheckintervalAt        = 68
	SuperCreatorOSAt            = 72
	SuperRevLevelAt             = 76
	SuperDefResuidAt            = 80
	SuperDefResgidAt            = 82
	SuperFirstInoAt             = 84
	SuperInodeSizeAt            = 88
	SuperBlockGroupNrAt         = 90
	SuperFeatureCompatAt        = 92
	SuperFeatureIncompatAt      = 96
	SuperFeatureROCompatAt      = 100
	SuperUUIDAt                 = 104
	SuperVolumeNameAt           = 120
	SuperLastMountedAt          = 136
	SuperAlgorithmUsageBitmapAt = 200
	SuperPreallocBlocksAt       = 204
	SuperPreallocDirBlocksAt    = 205
	SuperReservedGDTBlocksAt    = 206
	SuperJournalUUIDAt          = 208
	SuperJournalInumAt          = 224
	SuperJournalDevAt           = 228
	SuperLastOrphanAt           = 232
	SuperHashSeedAt             = 236
	SuperDefHashVersionAt       = 252
	SuperJnlBackupTypeAt        = 253
	SuperDescSizeAt             = 254
	SuperDefaultMountOptsAt     = 256
	SuperFirstMetaBGAt          = 260
	SuperMkfsTimeAt             = 264
	SuperJnlBlocksAt            = 268
	SuperBlocksCountHiAt        = 336
	SuperRBlocksCountHiAt       = 340
	SuperFreeBlocksHiAt         = 344
	SuperMinExtraIsizeAt        = 348
	SuperWantExtraIsizeAt       = 350
	SuperFlagsAt                = 352
	SuperRaidStrideAt           = 356
	SuperMmpUpdateIntervalAt    = 358
	SuperMmpBlockAt             = 360
	SuperRaidStripeWidthAt      = 368
	SuperLogGroupsPerFlexAt     = 372
	SuperChecksumTypeAt         = 373
	SuperEncryptionLevelAt      = 374
	SuperKbytesWrittenAt        = 376
	SuperSnapshotInumAt         = 384
	SuperSnapshotIDAt           = 388
	SuperSnapshotRBlocksCountAt = 392
	SuperSnapshotListAt         = 400
	SuperErrorCountAt           = 404
	SuperFirstErrorTimeAt       = 408
	SuperFirstErrorInoAt        = 412
	SuperFirstErrorBlockAt      = 416
	SuperFirstErrorLineAt       = 456
	SuperLastErrorTimeAt        = 460
	SuperLastErrorInoAt         = 464
	SuperLastErrorLineAt        = 468
	SuperLastErrorBlockAt       = 472
	SuperMountOptsAt            = 512
	SuperUsrQuotaInumAt         = 576
	SuperGrpQuotaInumAt         = 580
	SuperOverheadClustersAt     = 584
	SuperBackupBGsAt            = 588
	SuperEncryptAlgosAt         = 596
	SuperEncryptPwSaltAt        = 600
	SuperLpfInoAt               = 616
	SuperPrjQuotaInumAt         = 620
	SuperChecksumSeedAt         = 624
	SuperChecksumAt             = 1020
)

// Super is a view on a struct ext2_super_block.
type Super struct{ b *[SuperLen]byte }

// SuperOf returns the view on the beginning of b.
// b has at least SuperLen bytes.
func SuperOf(b []byte) Super {
	return Super{(*[SuperLen]byte)(b)}
}

func (v Super) InodesCount() uint32 {
	return binary.LittleEndian.Uint32(v.b[SuperInodesCountAt:])
}
func (v Super) BlocksCount() uint32 {
	return binary.LittleEndian.Uint32(v.b[SuperBlocksCountAt:])
}
func (v Super) FreeBlocksCount() uint32 {
	return binary.LittleEndian.Uint32(v.b[SuperFreeBlocksCountAt:])
}
func (v Super) FreeInodesCount() uint32 {
	return binary.LittleEndian.Uint32(v.b[SuperFreeInodesCountAt:])
}
func (v Super) FirstDataBlock() uint32 {
	return binary.LittleEndian.Uint32(v.b[SuperFirstDataBlockAt:])
}
func (v Super) LogBlockSize() uint32 {
	return binary.LittleEndian.Uint32(v.b[SuperLogBlockSizeAt:])
}
func (v Super) LogClusterSize() uint32 {
	return binary.LittleEndian.Uint32(v.b[SuperLogClusterSizeAt:])
}
func (v Super) BlocksPerGroup() uint32 {
	return binary.LittleEndian.Uint32(v.b[SuperBlocksPerGroupAt:])
}
func (v Super) ClustersPerGroup() uint32 {
	return binary.LittleEndian.Uint32(v.b[SuperClustersPerGroupAt:])
}
func (v Super) InodesPerGroup() uint32 {
	return binary.LittleEndian.Uint32(v.b[SuperInodesPerGroupAt:])
}
func (v Super) Mtime() uint32 {
	return binary.LittleEndian.Uint32(v.b[SuperMtimeAt:])
}
func (v Super) Wtime() uint32 {
	return binary.LittleEndian.Uint32(v.b[SuperWtimeAt:])
}
func (v Super) Magic() uint16 {
	return binary.LittleEndian.Uint16(v.b[SuperMagicAt:])
}
func (v Super) State() uint16 {
	return binary.LittleEndian.Uint16(v.b[SuperStateAt:])
}
func (v Super) RevLevel() uint32 {
	return binary.LittleEndian.Uint32(v.b[SuperRevLevelAt:])
}
func (v Super) FirstIno() uint32 {
	return binary.LittleEndian.Uint32(v.b[SuperFirstInoAt:])
}
func (v Super) InodeSize() uint16 {
	return binary.LittleEndian.Uint16(v.b[SuperInodeSizeAt:])
}
func (v Super) FeatureCompat() uint32 {
	return binary.LittleEndian.Uint32(v.b[SuperFeatureCompatAt:])
}
func (v Super) FeatureIncompat() uint32 {
	return binary.LittleEndian.Uint32(v.b[SuperFeatureIncompatAt:])
}
func (v Super) FeatureROCompat() uint32 {
	return binary.LittleEndian.Uint32(v.b[SuperFeatureROCompatAt:])
}
func (v Super) UUID() []byte { return v.b[SuperUUIDAt : SuperUUIDAt+16] }
func (v Super) JournalUUID() []byte {
	return v.b[SuperJournalUUIDAt : SuperJournalUUIDAt+16]
}
func (v Super) JournalInum() uint32 {
	return binary.LittleEndian.Uint32(v.b[SuperJournalInumAt:])
}
func (v Super) JournalDev() uint32 {
	return binary.LittleEndian.Uint32(v.b[SuperJournalDevAt:])
}
func (v Super) LastOrphan() uint32 {
	return binary.LittleEndian.Uint32(v.b[SuperLastOrphanAt:])
}
func (v Super) HashSeed() []byte { return v.b[SuperHashSeedAt : SuperHashSeedAt+16] }
func (v Super) FirstMetaBG() uint32 {
	return binary.LittleEndian.Uint32(v.b[SuperFirstMetaBGAt:])
}
func (v Super) MkfsTime() uint32 {
	return binary.LittleEndian.Uint32(v.b[SuperMkfsTimeAt:])
}
func (v Super) Flags() uint32 {
	return binary.LittleEndian.Uint32(v.b[SuperFlagsAt:])
}
