package btrfs

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"fsward/interp"
)

const (
	superOffset  = 64 << 10           // of the primary (BTRFS_SUPER_INFO_OFFSET)
	superSize    = 4096               // BTRFS_SUPER_INFO_SIZE
	superMagic   = 0x4D5F53665248425F // "_BHRfS_M"
	mkfsMagic    = 0x4D5F536652484221 // "!BHRfS_M": mkfs has not finished (BTRFS_MAGIC_TEMPORARY)
	sysArrayMax  = 2048
	superMagicAt = 64
	devItemAt    = 201 // super_block.dev_item
	devItemSize  = 98

	bytesUsedAt          = 120
	cacheGenerationAt    = 555
	uuidTreeGenerationAt = 563
	backupRootsAt        = 811 + sysArrayMax // super_roots: where the trees of earlier commits stood
	backupRootsSize      = 4 * 168           // struct btrfs_root_backup
)

// superOffsets are the places of the superblock and its mirrors (btrfs_sb_offset).
var superOffsets = [...]uint64{superOffset, 64 << 20, 256 << 30}

// IsSuperCopy tells of a write whether it is that of a further superblock, for which no commit waits: only the first is written with FUA
// (write_dev_supers).
func IsSuperCopy(off, n uint64) bool {
	return n == superSize && slices.Contains(superOffsets[1:], off)
}

// Features that are handled. Any other bit is named in an UnsupportedError.
const (
	incompatMixedBackref   = 1 << 0
	incompatDefaultSubvol  = 1 << 1
	incompatMixedGroups    = 1 << 2
	incompatCompressLZO    = 1 << 3
	incompatCompressZSTD   = 1 << 4
	incompatBigMetadata    = 1 << 5
	incompatExtendedIref   = 1 << 6
	incompatRAID56         = 1 << 7
	incompatSkinnyMetadata = 1 << 8
	incompatNoHoles        = 1 << 9
	incompatMetadataUUID   = 1 << 10
	incompatRAID1C34       = 1 << 11
	incompatSimpleQuota    = 1 << 16
	compatROFreeSpaceTree  = 1 << 0
	compatROFreeSpaceValid = 1 << 1
	compatROVerity         = 1 << 2
	compatROBlockGroupTree = 1 << 3
	superFlagError         = 1 << 2
	superFlagSeeding       = 1 << 32
	superFlagMetadump      = 1<<33 | 1<<34 // btrfs-image
	superFlagChangingFSID  = 1 << 35       // btrfstune -u
	superFlagChangingUUID  = 1 << 36       // btrfstune -m (CHANGING_FSID_V2)
	superFlagChangingTree  = 1 << 38       // btrfstune --convert-to-block-group-tree
	superFlagChangingCsums = 1<<39 | 1<<40
)

// superFlags are the flags that Linux (BTRFS_SUPER_FLAG_SUPP) or its tools know.
const superFlags = headerFlagWritten | headerFlagReloc | superFlagError | superFlagSeeding | superFlagMetadump |
	superFlagChangingFSID | superFlagChangingUUID | superFlagChangingTree | superFlagChangingCsums

const (
	handledIncompat = incompatMixedBackref | incompatDefaultSubvol | incompatMixedGroups | incompatCompressLZO |
		incompatCompressZSTD | incompatBigMetadata | incompatExtendedIref | incompatSkinnyMetadata |
		incompatNoHoles | incompatMetadataUUID | incompatRAID1C34 | incompatSimpleQuota
	handledCompatRO = compatROFreeSpaceTree | compatROFreeSpaceValid | compatROVerity | compatROBlockGroupTree
)

// The names of features that are not handled, for messages.
var incompatNames = map[int]string{7: "RAID56", 12: "ZONED", 13: "EXTENT_TREE_V2", 14: "RAID_STRIPE_TREE", 17: "REMAP_TREE"}

// superblock is a view on the bytes of a btrfs_super_block that has passed parseSuper.
type superblock struct{ b *[superSize]byte }

func (s superblock) u64(off int) uint64 { return binary.LittleEndian.Uint64(s.b[off:]) }
func (s superblock) u32(off int) uint32 { return binary.LittleEndian.Uint32(s.b[off:]) }

func (s superblock) fsid() [16]byte              { return [16]byte(s.b[32:48]) }
func (s superblock) bytenr() uint64              { return s.u64(48) }
func (s superblock) flags() uint64               { return s.u64(56) }
func (s superblock) generation() uint64          { return s.u64(72) }
func (s superblock) root() uint64                { return s.u64(80) }
func (s superblock) chunkRoot() uint64           { return s.u64(88) }
func (s superblock) logRoot() uint64             { return s.u64(96) }
func (s superblock) totalBytes() uint64          { return s.u64(112) }
func (s superblock) numDevices() uint64          { return s.u64(136) }
func (s superblock) sectorSize() uint32          { return s.u32(144) }
func (s superblock) nodeSize() uint32            { return s.u32(148) }
func (s superblock) sysArraySize() uint32        { return s.u32(160) }
func (s superblock) chunkRootGen() uint64        { return s.u64(164) }
func (s superblock) compatRO() uint64            { return s.u64(180) }
func (s superblock) incompat() uint64            { return s.u64(188) }
func (s superblock) csumType() csumType          { return csumType(binary.LittleEndian.Uint16(s.b[196:])) }
func (s superblock) rootLevel() uint8            { return s.b[198] }
func (s superblock) chunkRootLevel() uint8       { return s.b[199] }
func (s superblock) devID() uint64               { return s.u64(201) }
func (s superblock) devUUID() [16]byte           { return [16]byte(s.b[267:283]) }
func (s superblock) metadataUUIDBytes() [16]byte { return [16]byte(s.b[571:587]) }
func (s superblock) sysArray() []byte            { return s.b[811 : 811+sysArrayMax] }

// metadataUUID is the fsid that stands in the headers of nodes.
func (s superblock) metadataUUID() [16]byte {
	if s.incompat()&incompatMetadataUUID != 0 {
		return s.metadataUUIDBytes()
	}
	return s.fsid()
}

// identity is what makes two copies of a superblock the same: all but the checksum, the address, and the
// device on which the copy stands.
func (s superblock) identity() [superSize]byte {
	c := *s.b
	clear(c[0:csumArea])
	clear(c[48:56])
	clear(c[devItemAt : devItemAt+devItemSize])
	return c
}

// rewritten tells whether a tool is at work on the unmounted file system that writes metadata in place, or
// trees that are not whole until it is done. The kernel does not mount it until then.
func (s superblock) rewritten() bool {
	return s.flags()&(superFlagChangingFSID|superFlagChangingTree|superFlagChangingCsums) != 0
}

func magicOf(b *[superSize]byte) uint64 { return binary.LittleEndian.Uint64(b[superMagicAt:]) }

// parseSuper checks a superblock that claims the Btrfs magic and stands at a device address, as
// btrfs_validate_super does. The error is a *structureError or an *interp.UnsupportedError.
func parseSuper(b *[superSize]byte, addr uint64) (superblock, error) {
	s := superblock{b: b}
	bad := func(format string, args ...any) (superblock, error) {
		return superblock{}, violatedAt(superRule, addr, format, args...)
	}
	unsupported := func(format string, args ...any) (superblock, error) {
		return superblock{}, &interp.UnsupportedError{FS: fsName, Feature: fmt.Sprintf(format, args...)}
	}
	if magicOf(b) != superMagic {
		return bad("magic is %q, want _BHRfS_M", b[superMagicAt:superMagicAt+8])
	}
	// The checksum cannot be judged before its type is known.
	if s.csumType() >= csumTypes {
		return superblock{}, violatedAt(csumTypeRule, addr, "csum_type is %d, at most %d is known", s.csumType(), csumTypes-1)
	}
	if err := s.csumType().check(b[:]); err != nil {
		return bad("%v", err)
	}
	if _, off := interp.Locate(addr); s.bytenr() != off {
		return bad("bytenr is %d", s.bytenr())
	}
	if f := s.incompat() &^ handledIncompat; f != 0 {
		return unsupported("%s", featureName("incompat", f, incompatNames))
	}
	if f := s.compatRO() &^ handledCompatRO; f != 0 {
		return unsupported("%s", featureName("compat_ro", f, nil))
	}
	if s.flags()&superFlagSeeding != 0 {
		return unsupported("seed device (flags %#x)", s.flags())
	}
	sector, node := uint64(s.sectorSize()), uint64(s.nodeSize())
	switch {
	case !powerOfTwo(sector) || sector < 4096 || sector > maxNodeSize:
		return bad("sectorsize is %d", sector)
	case !powerOfTwo(node) || node < sector || node > maxNodeSize:
		return bad("nodesize is %d with sectorsize %d", node, sector)
	case uint64(s.u32(152)) != node:
		return bad("leafsize is %d with nodesize %d", s.u32(152), node)
	case s.flags()&^superFlags != 0:
		return bad("flags is %#x, unknown are %#x", s.flags(), s.flags()&^superFlags)
	case uint64(s.u32(156)) != sector:
		return bad("stripesize is %d with sectorsize %d", s.u32(156), sector)
	case s.rootLevel() >= maxLevel || s.chunkRootLevel() >= maxLevel || b[200] >= maxLevel:
		return bad("levels are %d, %d, %d: at most %d", s.rootLevel(), s.chunkRootLevel(), b[200], maxLevel-1)
	case s.root()%sector != 0 || s.chunkRoot()%sector != 0 || s.logRoot()%sector != 0:
		return bad("root %d, chunk_root %d or log_root %d is not a multiple of sectorsize %d", s.root(), s.chunkRoot(), s.logRoot(), sector)
	case s.sysArraySize() > sysArrayMax || s.sysArraySize() < keySize+chunkItemSize:
		return bad("sys_chunk_array_size is %d, from %d to %d fit", s.sysArraySize(), keySize+chunkItemSize, sysArrayMax)
	case s.chunkRootGen() > s.generation():
		return bad("chunk_root_generation is %d, beyond generation %d", s.chunkRootGen(), s.generation())
	case s.numDevices() == 0:
		return bad("num_devices is 0")
	case s.totalBytes() == 0:
		return bad("total_bytes is 0")
	case [16]byte(b[283:299]) != s.metadataUUID() && !s.rewritten():
		return bad("the fsid in dev_item is not that of the superblock")
	}
	return s, nil
}

func powerOfTwo(n uint64) bool { return n != 0 && n&(n-1) == 0 }

// featureName names the lowest unknown bit of a feature word.
func featureName(word string, bits uint64, names map[int]string) string {
	for i := range 64 {
		if bits&(1<<i) == 0 {
			continue
		}
		if name, ok := names[i]; ok {
			return fmt.Sprintf("%s (%s flag %#x)", name, word, uint64(1)<<i)
		}
		return fmt.Sprintf("%s flag %#x", word, uint64(1)<<i)
	}
	return word
}

// checkUnchanged reports the first field of a superblock that may not change while a file system is
// followed and did.
func (s superblock) checkUnchanged(old superblock, addr uint64) error {
	if s.csumType() != old.csumType() {
		return violatedAt(csumTypeRule, addr, "csum_type changed from %d to %d", old.csumType(), s.csumType())
	}
	for _, f := range []struct {
		name    string
		off, to int
	}{{"sectorsize", 144, 148}, {"nodesize", 148, 152}} {
		if !bytes.Equal(s.b[f.off:f.to], old.b[f.off:f.to]) {
			return violatedAt(superRule, addr, "%s changed from %x to %x", f.name, old.b[f.off:f.to], s.b[f.off:f.to])
		}
	}
	if s.metadataUUID() != old.metadataUUID() {
		return violatedAt(superRule, addr, "the fsid of the nodes changed from %x to %x", old.metadataUUID(), s.metadataUUID())
	}
	return nil
}
