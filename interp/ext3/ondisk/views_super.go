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

// SuperOf returns the view on the beginning of b, which has SuperLen bytes at least.
func SuperOf(b []byte) Super { return Super{(*[SuperLen]byte)(b)} }

func (v Super) InodesCount() uint32  { return binary.LittleEndian.Uint32(v.b[SuperInodesCountAt:]) }
func (v Super) BlocksCount() uint32  { return binary.LittleEndian.Uint32(v.b[SuperBlocksCountAt:]) }
func (v Super) RBlocksCount() uint32 { return binary.LittleEndian.Uint32(v.b[SuperRBlocksCountAt:]) }
func (v Super) FreeBlocksCount() uint32 {
	return binary.LittleEndian.Uint32(v.b[SuperFreeBlocksCountAt:])
}
func (v Super) FreeInodesCount() uint32 {
	return binary.LittleEndian.Uint32(v.b[SuperFreeInodesCountAt:])
}
func (v Super) FirstDataBlock() uint32 {
	return binary.LittleEndian.Uint32(v.b[SuperFirstDataBlockAt:])
}
func (v Super) LogBlockSize() uint32 { return binary.LittleEndian.Uint32(v.b[SuperLogBlockSizeAt:]) }
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
func (v Super) Mtime() uint32         { return binary.LittleEndian.Uint32(v.b[SuperMtimeAt:]) }
func (v Super) Wtime() uint32         { return binary.LittleEndian.Uint32(v.b[SuperWtimeAt:]) }
func (v Super) MntCount() uint16      { return binary.LittleEndian.Uint16(v.b[SuperMntCountAt:]) }
func (v Super) MaxMntCount() uint16   { return binary.LittleEndian.Uint16(v.b[SuperMaxMntCountAt:]) }
func (v Super) Magic() uint16         { return binary.LittleEndian.Uint16(v.b[SuperMagicAt:]) }
func (v Super) State() uint16         { return binary.LittleEndian.Uint16(v.b[SuperStateAt:]) }
func (v Super) Errors() uint16        { return binary.LittleEndian.Uint16(v.b[SuperErrorsAt:]) }
func (v Super) MinorRevLevel() uint16 { return binary.LittleEndian.Uint16(v.b[SuperMinorRevLevelAt:]) }
func (v Super) Lastcheck() uint32     { return binary.LittleEndian.Uint32(v.b[SuperLastcheckAt:]) }
func (v Super) Checkinterval() uint32 { return binary.LittleEndian.Uint32(v.b[SuperCheckintervalAt:]) }
func (v Super) CreatorOS() uint32     { return binary.LittleEndian.Uint32(v.b[SuperCreatorOSAt:]) }
func (v Super) RevLevel() uint32      { return binary.LittleEndian.Uint32(v.b[SuperRevLevelAt:]) }
func (v Super) DefResuid() uint16     { return binary.LittleEndian.Uint16(v.b[SuperDefResuidAt:]) }
func (v Super) DefResgid() uint16     { return binary.LittleEndian.Uint16(v.b[SuperDefResgidAt:]) }
func (v Super) FirstIno() uint32      { return binary.LittleEndian.Uint32(v.b[SuperFirstInoAt:]) }
func (v Super) InodeSize() uint16     { return binary.LittleEndian.Uint16(v.b[SuperInodeSizeAt:]) }
func (v Super) BlockGroupNr() uint16  { return binary.LittleEndian.Uint16(v.b[SuperBlockGroupNrAt:]) }
func (v Super) FeatureCompat() uint32 { return binary.LittleEndian.Uint32(v.b[SuperFeatureCompatAt:]) }
func (v Super) FeatureIncompat() uint32 {
	return binary.LittleEndian.Uint32(v.b[SuperFeatureIncompatAt:])
}
func (v Super) FeatureROCompat() uint32 {
	return binary.LittleEndian.Uint32(v.b[SuperFeatureROCompatAt:])
}
func (v Super) UUID() []byte        { return v.b[SuperUUIDAt : SuperUUIDAt+16] }
func (v Super) VolumeName() []byte  { return v.b[SuperVolumeNameAt : SuperVolumeNameAt+16] }
func (v Super) LastMounted() []byte { return v.b[SuperLastMountedAt : SuperLastMountedAt+64] }
func (v Super) AlgorithmUsageBitmap() uint32 {
	return binary.LittleEndian.Uint32(v.b[SuperAlgorithmUsageBitmapAt:])
}
func (v Super) PreallocBlocks() uint8    { return v.b[SuperPreallocBlocksAt] }
func (v Super) PreallocDirBlocks() uint8 { return v.b[SuperPreallocDirBlocksAt] }
func (v Super) ReservedGDTBlocks() uint16 {
	return binary.LittleEndian.Uint16(v.b[SuperReservedGDTBlocksAt:])
}
func (v Super) JournalUUID() []byte   { return v.b[SuperJournalUUIDAt : SuperJournalUUIDAt+16] }
func (v Super) JournalInum() uint32   { return binary.LittleEndian.Uint32(v.b[SuperJournalInumAt:]) }
func (v Super) JournalDev() uint32    { return binary.LittleEndian.Uint32(v.b[SuperJournalDevAt:]) }
func (v Super) LastOrphan() uint32    { return binary.LittleEndian.Uint32(v.b[SuperLastOrphanAt:]) }
func (v Super) HashSeed() []byte      { return v.b[SuperHashSeedAt : SuperHashSeedAt+16] }
func (v Super) DefHashVersion() uint8 { return v.b[SuperDefHashVersionAt] }
func (v Super) JnlBackupType() uint8  { return v.b[SuperJnlBackupTypeAt] }
func (v Super) DescSize() uint16      { return binary.LittleEndian.Uint16(v.b[SuperDescSizeAt:]) }
func (v Super) DefaultMountOpts() uint32 {
	return binary.LittleEndian.Uint32(v.b[SuperDefaultMountOptsAt:])
}
func (v Super) FirstMetaBG() uint32   { return binary.LittleEndian.Uint32(v.b[SuperFirstMetaBGAt:]) }
func (v Super) MkfsTime() uint32      { return binary.LittleEndian.Uint32(v.b[SuperMkfsTimeAt:]) }
func (v Super) JnlBlocks() []byte     { return v.b[SuperJnlBlocksAt : SuperJnlBlocksAt+68] }
func (v Super) BlocksCountHi() uint32 { return binary.LittleEndian.Uint32(v.b[SuperBlocksCountHiAt:]) }
func (v Super) RBlocksCountHi() uint32 {
	return binary.LittleEndian.Uint32(v.b[SuperRBlocksCountHiAt:])
}
func (v Super) FreeBlocksHi() uint32  { return binary.LittleEndian.Uint32(v.b[SuperFreeBlocksHiAt:]) }
func (v Super) MinExtraIsize() uint16 { return binary.LittleEndian.Uint16(v.b[SuperMinExtraIsizeAt:]) }
func (v Super) WantExtraIsize() uint16 {
	return binary.LittleEndian.Uint16(v.b[SuperWantExtraIsizeAt:])
}
func (v Super) Flags() uint32      { return binary.LittleEndian.Uint32(v.b[SuperFlagsAt:]) }
func (v Super) RaidStride() uint16 { return binary.LittleEndian.Uint16(v.b[SuperRaidStrideAt:]) }
func (v Super) MmpUpdateInterval() uint16 {
	return binary.LittleEndian.Uint16(v.b[SuperMmpUpdateIntervalAt:])
}
func (v Super) MmpBlock() []byte { return v.b[SuperMmpBlockAt : SuperMmpBlockAt+8] }
func (v Super) RaidStripeWidth() uint32 {
	return binary.LittleEndian.Uint32(v.b[SuperRaidStripeWidthAt:])
}
func (v Super) LogGroupsPerFlex() uint8 { return v.b[SuperLogGroupsPerFlexAt] }
func (v Super) ChecksumType() uint8     { return v.b[SuperChecksumTypeAt] }
func (v Super) EncryptionLevel() uint8  { return v.b[SuperEncryptionLevelAt] }
func (v Super) KbytesWritten() []byte   { return v.b[SuperKbytesWrittenAt : SuperKbytesWrittenAt+8] }
func (v Super) SnapshotInum() uint32    { return binary.LittleEndian.Uint32(v.b[SuperSnapshotInumAt:]) }
func (v Super) SnapshotID() uint32      { return binary.LittleEndian.Uint32(v.b[SuperSnapshotIDAt:]) }
func (v Super) SnapshotRBlocksCount() []byte {
	return v.b[SuperSnapshotRBlocksCountAt : SuperSnapshotRBlocksCountAt+8]
}
func (v Super) SnapshotList() uint32 { return binary.LittleEndian.Uint32(v.b[SuperSnapshotListAt:]) }
func (v Super) ErrorCount() uint32   { return binary.LittleEndian.Uint32(v.b[SuperErrorCountAt:]) }
func (v Super) FirstErrorTime() uint32 {
	return binary.LittleEndian.Uint32(v.b[SuperFirstErrorTimeAt:])
}
func (v Super) FirstErrorIno() uint32 { return binary.LittleEndian.Uint32(v.b[SuperFirstErrorInoAt:]) }
func (v Super) FirstErrorBlock() []byte {
	return v.b[SuperFirstErrorBlockAt : SuperFirstErrorBlockAt+8]
}
func (v Super) FirstErrorLine() uint32 {
	return binary.LittleEndian.Uint32(v.b[SuperFirstErrorLineAt:])
}
func (v Super) LastErrorTime() uint32  { return binary.LittleEndian.Uint32(v.b[SuperLastErrorTimeAt:]) }
func (v Super) LastErrorIno() uint32   { return binary.LittleEndian.Uint32(v.b[SuperLastErrorInoAt:]) }
func (v Super) LastErrorLine() uint32  { return binary.LittleEndian.Uint32(v.b[SuperLastErrorLineAt:]) }
func (v Super) LastErrorBlock() []byte { return v.b[SuperLastErrorBlockAt : SuperLastErrorBlockAt+8] }
func (v Super) MountOpts() []byte      { return v.b[SuperMountOptsAt : SuperMountOptsAt+64] }
func (v Super) UsrQuotaInum() uint32   { return binary.LittleEndian.Uint32(v.b[SuperUsrQuotaInumAt:]) }
func (v Super) GrpQuotaInum() uint32   { return binary.LittleEndian.Uint32(v.b[SuperGrpQuotaInumAt:]) }
func (v Super) OverheadClusters() uint32 {
	return binary.LittleEndian.Uint32(v.b[SuperOverheadClustersAt:])
}
func (v Super) BackupBGs() []byte     { return v.b[SuperBackupBGsAt : SuperBackupBGsAt+8] }
func (v Super) EncryptAlgos() uint32  { return binary.LittleEndian.Uint32(v.b[SuperEncryptAlgosAt:]) }
func (v Super) EncryptPwSalt() []byte { return v.b[SuperEncryptPwSaltAt : SuperEncryptPwSaltAt+16] }
func (v Super) LpfIno() uint32        { return binary.LittleEndian.Uint32(v.b[SuperLpfInoAt:]) }
func (v Super) PrjQuotaInum() uint32  { return binary.LittleEndian.Uint32(v.b[SuperPrjQuotaInumAt:]) }
func (v Super) ChecksumSeed() uint32  { return binary.LittleEndian.Uint32(v.b[SuperChecksumSeedAt:]) }
func (v Super) Checksum() uint32      { return binary.LittleEndian.Uint32(v.b[SuperChecksumAt:]) }
