package btrfs

import (
	"fmt"
	"slices"

	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// IsSuperCopy reports whether a write is exactly a mirror of the superblock. No commit waits for a
// mirror: the kernel writes only the primary with FUA (write_dev_supers).
func IsSuperCopy(off, n uint64) bool {
	return n == ondisk.SuperSize && slices.Contains(ondisk.SuperOffsets[1:], off)
}

// The supported features. A superblock with any other bit gets an UnsupportedError that names it.
const (
	supportedIncompat = ondisk.IncompatMixedBackref | ondisk.IncompatDefaultSubvol |
		ondisk.IncompatMixedGroups | ondisk.IncompatCompressLZO | ondisk.IncompatCompressZSTD |
		ondisk.IncompatBigMetadata | ondisk.IncompatExtendedIref | ondisk.IncompatRAID56 |
		ondisk.IncompatSkinnyMetadata | ondisk.IncompatNoHoles | ondisk.IncompatMetadataUUID |
		ondisk.IncompatRAID1C34 | ondisk.IncompatSimpleQuota
	supportedCompatRO = ondisk.CompatROFreeSpaceTree | ondisk.CompatROFreeSpaceValid |
		ondisk.CompatROVerity | ondisk.CompatROBlockGroupTree
)

// incompatNames names the unsupported features in messages, by the number of their bit.
var incompatNames = map[int]string{
	12: "ZONED", 13: "EXTENT_TREE_V2", 14: "RAID_STRIPE_TREE", 17: "REMAP_TREE",
}

// identityOf returns the bytes that all copies of a superblock share. It clears the checksum, the
// address, and the dev_item of the device that holds the copy.
func identityOf(s ondisk.Superblock) [ondisk.SuperSize]byte {
	c := *s.Bytes()
	clear(c[ondisk.SuperCsumAt : ondisk.SuperCsumAt+ondisk.CsumArea])
	clear(c[ondisk.SuperBytenrAt : ondisk.SuperBytenrAt+8])
	clear(c[ondisk.SuperDevItemAt : ondisk.SuperDevItemAt+ondisk.DevItemSize])
	return c
}

// inRewrite reports whether a tool is changing the unmounted file system. The tool writes metadata
// in place, or its trees are incomplete until it ends. The kernel refuses to mount until then.
func inRewrite(s ondisk.Superblock) bool {
	const changing = ondisk.SuperFlagChangingFSID | ondisk.SuperFlagChangingTree |
		ondisk.SuperFlagChangingCsums
	return s.Flags()&changing != 0
}

// checkSuper checks the superblock at a device address, as btrfs_validate_super does. The error is
// a *structureError or an *interp.UnsupportedError.
func checkSuper(s ondisk.Superblock, addr uint64) error {
	bad := func(format string, args ...any) error {
		return violatedAt(superRule, addr, format, args...)
	}
	if s.Magic() != ondisk.SuperMagic {
		return bad("magic is %q, want _BHRfS_M", s.Bytes()[ondisk.SuperMagicAt:ondisk.SuperMagicAt+8])
	}
	// The check of the checksum needs its type.
	if s.CsumType() >= ondisk.CsumTypes {
		return violatedAt(csumTypeRule, addr, "csum_type is %d, at most %d is known",
			s.CsumType(), ondisk.CsumTypes-1)
	}
	if err := s.CsumType().Check(s.Bytes()[:]); err != nil {
		return bad("%v", err)
	}
	if _, off := interp.Locate(addr); s.Bytenr() != off {
		return bad("bytenr is %d", s.Bytenr())
	}
	if feature := unsupportedFeature(s); feature != "" {
		return &interp.UnsupportedError{FS: ondisk.FSName, Feature: feature}
	}
	return checkSuperFields(s, bad)
}

// checkSuperFields checks the sizes, roots and counts in a superblock.
func checkSuperFields(s ondisk.Superblock, bad func(format string, args ...any) error) error {
	const minSysArray = ondisk.DiskKeySize + ondisk.ChunkSize
	sector, node := uint64(s.SectorSize()), uint64(s.NodeSize())
	level := max(s.RootLevel(), s.ChunkRootLevel(), s.LogRootLevel())
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
	case level >= ondisk.MaxLevel:
		return bad("levels are %d, %d, %d: at most %d",
			s.RootLevel(), s.ChunkRootLevel(), s.LogRootLevel(), ondisk.MaxLevel-1)
	case s.Root()%sector != 0 || s.ChunkRoot()%sector != 0 || s.LogRoot()%sector != 0:
		return bad("root %d, chunk_root %d or log_root %d is not a multiple of sectorsize %d",
			s.Root(), s.ChunkRoot(), s.LogRoot(), sector)
	case s.SysArraySize() > ondisk.SysArrayMax || s.SysArraySize() < minSysArray:
		return bad("sys_chunk_array_size is %d, from %d to %d fit",
			s.SysArraySize(), minSysArray, ondisk.SysArrayMax)
	case s.ChunkRootGen() > s.Generation():
		return bad("chunk_root_generation is %d, beyond generation %d",
			s.ChunkRootGen(), s.Generation())
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

// unsupportedFeature names a feature of a superblock that fsward does not support, or returns "".
func unsupportedFeature(s ondisk.Superblock) string {
	if f := s.Incompat() &^ supportedIncompat; f != 0 {
		return featureName("incompat", f, incompatNames)
	}
	if f := s.CompatRO() &^ supportedCompatRO; f != 0 {
		return featureName("compat_ro", f, nil)
	}
	return ""
}

// featureName names the lowest bit that is set in a feature word.
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

// checkUnchanged returns the violation of the first field that must stay the same during the life
// of a file system, and has changed.
func checkUnchanged(s, old ondisk.Superblock, addr uint64) error {
	switch {
	case s.CsumType() != old.CsumType():
		return violatedAt(csumTypeRule, addr, "csum_type changed from %d to %d",
			old.CsumType(), s.CsumType())
	case s.SectorSize() != old.SectorSize():
		return violatedAt(superRule, addr, "sectorsize changed from %d to %d",
			old.SectorSize(), s.SectorSize())
	case s.NodeSize() != old.NodeSize():
		return violatedAt(superRule, addr, "nodesize changed from %d to %d",
			old.NodeSize(), s.NodeSize())
	case s.MetadataUUID() != old.MetadataUUID():
		return violatedAt(superRule, addr, "the fsid of the nodes changed from %x to %x",
			old.MetadataUUID(), s.MetadataUUID())
	}
	return nil
}
