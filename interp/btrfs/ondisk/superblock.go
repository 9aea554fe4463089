package ondisk

import (
	"encoding/binary"

	"fsward/interp/disk"
)

const (
	SuperOffset = 64 << 10           // of the primary superblock (BTRFS_SUPER_INFO_OFFSET)
	SuperMagic  = 0x4D5F53665248425F // "_BHRfS_M"
	MkfsMagic   = 0x4D5F536652484221 // "!BHRfS_M": mkfs has not finished (BTRFS_MAGIC_TEMPORARY)
	SysArrayMax = 2048
	BackupRoots = 4 // entries of super_roots (BTRFS_NUM_BACKUP_ROOTS)
)

// SuperOffsets are the offsets of the superblock and its mirrors on a device (btrfs_sb_offset).
var SuperOffsets = [...]uint64{SuperOffset, 64 << 20, 256 << 30}

// Features of a file system, and flags of its superblock.
const (
	IncompatMixedBackref   = 1 << 0
	IncompatDefaultSubvol  = 1 << 1
	IncompatMixedGroups    = 1 << 2
	IncompatCompressLZO    = 1 << 3
	IncompatCompressZSTD   = 1 << 4
	IncompatBigMetadata    = 1 << 5
	IncompatExtendedIref   = 1 << 6
	IncompatRAID56         = 1 << 7
	IncompatSkinnyMetadata = 1 << 8
	IncompatNoHoles        = 1 << 9
	IncompatMetadataUUID   = 1 << 10
	IncompatRAID1C34       = 1 << 11
	IncompatSimpleQuota    = 1 << 16
	CompatROFreeSpaceTree  = 1 << 0
	CompatROFreeSpaceValid = 1 << 1
	CompatROVerity         = 1 << 2
	CompatROBlockGroupTree = 1 << 3
	SuperFlagError         = 1 << 2
	SuperFlagSeeding       = 1 << 32
	SuperFlagMetadump      = 1<<33 | 1<<34 // btrfs-image
	SuperFlagChangingFSID  = 1 << 35       // btrfstune -u
	SuperFlagChangingUUID  = 1 << 36       // btrfstune -m (CHANGING_FSID_V2)
	SuperFlagChangingTree  = 1 << 38       // btrfstune --convert-to-block-group-tree
	SuperFlagChangingCsums = 1<<39 | 1<<40
)

// SuperFlags are the flags that Linux (BTRFS_SUPER_FLAG_SUPP) or its tools know.
const SuperFlags = HeaderFlagWritten | HeaderFlagReloc | SuperFlagError | SuperFlagSeeding |
	SuperFlagMetadump | SuperFlagChangingFSID | SuperFlagChangingUUID | SuperFlagChangingTree |
	SuperFlagChangingCsums

// Superblock is a view on the bytes of a btrfs_super_block. The bytes need not be valid.
type Superblock struct{ b *superBytes }

// superBytes reads numbers at the offsets of the table.
type superBytes [SuperSize]byte

// NewSuperblock returns a view on the bytes of a superblock.
func NewSuperblock(b *[SuperSize]byte) Superblock { return Superblock{(*superBytes)(b)} }

// Bytes returns the bytes that the view stands on.
func (s Superblock) Bytes() *[SuperSize]byte { return (*[SuperSize]byte)(s.b) }

func (s Superblock) FSID() [16]byte             { return [16]byte(s.b[SuperFSIDAt:]) }
func (s Superblock) Magic() uint64              { return s.b.u64(SuperMagicAt) }
func (s Superblock) Bytenr() uint64             { return s.b.u64(SuperBytenrAt) }
func (s Superblock) Flags() uint64              { return s.b.u64(SuperFlagsAt) }
func (s Superblock) Generation() uint64         { return s.b.u64(SuperGenerationAt) }
func (s Superblock) Root() uint64               { return s.b.u64(SuperRootAt) }
func (s Superblock) ChunkRoot() uint64          { return s.b.u64(SuperChunkRootAt) }
func (s Superblock) ChunkRootGen() uint64       { return s.b.u64(SuperChunkRootGenerationAt) }
func (s Superblock) LogRoot() uint64            { return s.b.u64(SuperLogRootAt) }
func (s Superblock) TotalBytes() uint64         { return s.b.u64(SuperTotalBytesAt) }
func (s Superblock) BytesUsed() uint64          { return s.b.u64(SuperBytesUsedAt) }
func (s Superblock) NumDevices() uint64         { return s.b.u64(SuperNumDevicesAt) }
func (s Superblock) SectorSize() uint32         { return s.b.u32(SuperSectorsizeAt) }
func (s Superblock) NodeSize() uint32           { return s.b.u32(SuperNodesizeAt) }
func (s Superblock) LeafSize() uint32           { return s.b.u32(SuperLeafsizeAt) }
func (s Superblock) StripeSize() uint32         { return s.b.u32(SuperStripesizeAt) }
func (s Superblock) SysArraySize() uint32       { return s.b.u32(SuperSysChunkArraySizeAt) }
func (s Superblock) CompatRO() uint64           { return s.b.u64(SuperCompatROFlagsAt) }
func (s Superblock) Incompat() uint64           { return s.b.u64(SuperIncompatFlagsAt) }
func (s Superblock) RootLevel() uint8           { return s.b[SuperRootLevelAt] }
func (s Superblock) ChunkRootLevel() uint8      { return s.b[SuperChunkRootLevelAt] }
func (s Superblock) LogRootLevel() uint8        { return s.b[SuperLogRootLevelAt] }
func (s Superblock) CacheGeneration() uint64    { return s.b.u64(SuperCacheGenerationAt) }
func (s Superblock) UUIDTreeGeneration() uint64 { return s.b.u64(SuperUUIDTreeGenerationAt) }
func (s Superblock) CsumType() CsumType {
	return CsumType(binary.LittleEndian.Uint16(s.b[SuperCsumTypeAt:]))
}

func (b *superBytes) u64(at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }
func (b *superBytes) u32(at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }

// DevItem returns the dev_item of the device that holds the superblock.
func (s Superblock) DevItem() DevItem {
	b := s.b[SuperDevItemAt : SuperDevItemAt+DevItemSize]
	return DevItem{disk.NewRegion(b, s.Bytenr()+SuperDevItemAt)}
}

// SysArray returns the whole sys_chunk_array. Its first SysArraySize bytes are in use.
func (s Superblock) SysArray() []byte {
	return s.b[SuperSysChunkArrayAt : SuperSysChunkArrayAt+SysArrayMax]
}

// MetadataUUID returns the fsid in the headers of nodes.
func (s Superblock) MetadataUUID() [16]byte {
	if s.Incompat()&IncompatMetadataUUID != 0 {
		return [16]byte(s.b[SuperMetadataUUIDAt:])
	}
	return s.FSID()
}
