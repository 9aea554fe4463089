package btrfs

import (
	"fmt"
	"slices"

	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// IsSuperCopy reports whether a write is of a further copy of the superblock, for which no commit
// waits: only the first is written with FUA (write_dev_supers).
func IsSuperCopy(off, n uint64) bool {
	return n == ondisk.SuperSize && slices.Contains(ondisk.SuperOffsets[1:], off)
}

// Features that are handled. Any other bit is named in an UnsupportedError.
const (
	handledIncompat = ondisk.IncompatMixedBackref | ondisk.IncompatDefaultSubvol | ondisk.IncompatMixedGroups | ondisk.IncompatCompressLZO |
		ondisk.IncompatCompressZSTD | ondisk.IncompatBigMetadata | ondisk.IncompatExtendedIref | ondisk.IncompatSkinnyMetadata |
		ondisk.IncompatNoHoles | ondisk.IncompatMetadataUUID | ondisk.IncompatRAID1C34 | ondisk.IncompatSimpleQuota
	handledCompatRO = ondisk.CompatROFreeSpaceTree | ondisk.CompatROFreeSpaceValid | ondisk.CompatROVerity | ondisk.CompatROBlockGroupTree
)

// The names of features that are not handled, for messages.
var incompatNames = map[int]string{7: "RAID56", 12: "ZONED", 13: "EXTENT_TREE_V2", 14: "RAID_STRIPE_TREE", 17: "REMAP_TREE"}

// identityOf returns what makes two copies of a superblock the same: all but the checksum, the address,
// and the device on which the copy stands.
func identityOf(s ondisk.Superblock) [ondisk.SuperSize]byte {
	c := *s.Bytes()
	clear(c[ondisk.SuperCsumAt : ondisk.SuperCsumAt+ondisk.CsumArea])
	clear(c[ondisk.SuperBytenrAt : ondisk.SuperBytenrAt+8])
	clear(c[ondisk.SuperDevItemAt : ondisk.SuperDevItemAt+ondisk.DevItemSize])
	return c
}

// inRewrite reports whether a tool is at work on the unmounted file system that writes metadata in
// place, or trees that are not whole until it is done. The kernel does not mount it until then.
func inRewrite(s ondisk.Superblock) bool {
	return s.Flags()&(ondisk.SuperFlagChangingFSID|ondisk.SuperFlagChangingTree|ondisk.SuperFlagChangingCsums) != 0
}

// checkSuper checks a superblock that claims the Btrfs magic and stands at a device address, as
// btrfs_validate_super does. The error is a *structureError or an *interp.UnsupportedError.
func checkSuper(s ondisk.Superblock, addr uint64) error {
	bad := func(format string, args ...any) error {
		return violatedAt(superRule, addr, format, args...)
	}
	unsupported := func(format string, args ...any) error {
		return &interp.UnsupportedError{FS: ondisk.FSName, Feature: fmt.Sprintf(format, args...)}
	}
	if s.Magic() != ondisk.SuperMagic {
		return bad("magic is %q, want _BHRfS_M", s.Bytes()[ondisk.SuperMagicAt:ondisk.SuperMagicAt+8])
	}
	// The checksum cannot be judged before its type is known.
	if s.CsumType() >= ondisk.CsumTypes {
		return violatedAt(csumTypeRule, addr, "csum_type is %d, at most %d is known", s.CsumType(), ondisk.CsumTypes-1)
	}
	if err := s.CsumType().Check(s.Bytes()[:]); err != nil {
		return bad("%v", err)
	}
	if _, off := interp.Locate(addr); s.Bytenr() != off {
		return bad("bytenr is %d", s.Bytenr())
	}
	if f := s.Incompat() &^ handledIncompat; f != 0 {
		return unsupported("%s", featureName("incompat", f, incompatNames))
	}
	if f := s.CompatRO() &^ handledCompatRO; f != 0 {
		return unsupported("%s", featureName("compat_ro", f, nil))
	}
	if s.Flags()&ondisk.SuperFlagSeeding != 0 {
		return unsupported("seed device (flags %#x)", s.Flags())
	}
	sector, node := uint64(s.SectorSize()), uint64(s.NodeSize())
	switch {
	case !powerOfTwo(sector) || sector < 4096 || sector > ondisk.MaxNodeSize:
		return bad("sectorsize is %d", sector)
	case !powerOfTwo(node) || node < sector || node > ondisk.MaxNodeSize:
		return bad("nodesize is %d with sectorsize %d", node, sector)
	case uint64(s.LeafSize()) != node:
		return bad("leafsize is %d with nodesize %d", s.LeafSize(), node)
	case s.Flags()&^ondisk.SuperFlags != 0:
		return bad("flags is %#x, unknown are %#x", s.Flags(), s.Flags()&^ondisk.SuperFlags)
	case uint64(s.StripeSize()) != sector:
		return bad("stripesize is %d with sectorsize %d", s.StripeSize(), sector)
	case s.RootLevel() >= ondisk.MaxLevel || s.ChunkRootLevel() >= ondisk.MaxLevel || s.LogRootLevel() >= ondisk.MaxLevel:
		return bad("levels are %d, %d, %d: at most %d", s.RootLevel(), s.ChunkRootLevel(), s.LogRootLevel(), ondisk.MaxLevel-1)
	case s.Root()%sector != 0 || s.ChunkRoot()%sector != 0 || s.LogRoot()%sector != 0:
		return bad("root %d, chunk_root %d or log_root %d is not a multiple of sectorsize %d", s.Root(), s.ChunkRoot(), s.LogRoot(), sector)
	case s.SysArraySize() > ondisk.SysArrayMax || s.SysArraySize() < ondisk.DiskKeySize+ondisk.ChunkSize:
		return bad("sys_chunk_array_size is %d, from %d to %d fit", s.SysArraySize(), ondisk.DiskKeySize+ondisk.ChunkSize, ondisk.SysArrayMax)
	case s.ChunkRootGen() > s.Generation():
		return bad("chunk_root_generation is %d, beyond generation %d", s.ChunkRootGen(), s.Generation())
	case s.NumDevices() == 0:
		return bad("num_devices is 0")
	case s.TotalBytes() == 0:
		return bad("total_bytes is 0")
	case s.DevItem().FSID() != s.MetadataUUID() && !inRewrite(s):
		return bad("the fsid in dev_item is not that of the superblock")
	}
	return nil
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
func checkUnchanged(s, old ondisk.Superblock, addr uint64) error {
	if s.CsumType() != old.CsumType() {
		return violatedAt(csumTypeRule, addr, "csum_type changed from %d to %d", old.CsumType(), s.CsumType())
	}
	if s.SectorSize() != old.SectorSize() {
		return violatedAt(superRule, addr, "sectorsize changed from %d to %d", old.SectorSize(), s.SectorSize())
	}
	if s.NodeSize() != old.NodeSize() {
		return violatedAt(superRule, addr, "nodesize changed from %d to %d", old.NodeSize(), s.NodeSize())
	}
	if s.MetadataUUID() != old.MetadataUUID() {
		return violatedAt(superRule, addr, "the fsid of the nodes changed from %x to %x", old.MetadataUUID(), s.MetadataUUID())
	}
	return nil
}
