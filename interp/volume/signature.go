package volume

import (
	"encoding/binary"
	"strings"

	"fsward/interp/disk"
)

// btrfsMagic is the magic of a superblock of Btrfs.
const btrfsMagic = "_BHRfS_M"

// hasText reports whether a text is at an offset of a region.
func hasText(r disk.Region, off int, text string) bool {
	return strings.HasPrefix(string(r.Bytes()[min(off, r.Len()):]), text)
}

// hasSuperblock reports whether a device has the superblock of a file system that fsward knows:
// ext2 to ext4, or Btrfs.
func hasSuperblock(d *device) (bool, error) {
	for _, magic := range []struct {
		off  uint64
		text string
	}{
		{extSuper + extMagicAt, string(binary.LittleEndian.AppendUint16(nil, extMagic))},
		{btrfsSuper + btrfsMagicAt, btrfsMagic},
	} {
		r, ok, err := d.read(magic.off, uint64(len(magic.text)))
		if err != nil {
			return false, err
		}
		if ok && string(r.Bytes()) == magic.text {
			return true, nil
		}
	}
	return false, nil
}

// hasBootParameters reports whether a first sector is the boot sector of FAT, exFAT or NTFS.
func hasBootParameters(r disk.Region) bool { return bootSector(r) != "" }

// bootSector returns which of FAT, exFAT and NTFS a first sector belongs to, "" if none. The checks
// of FAT are those of Linux (fat_read_bpb): FAT has no magic.
func bootSector(r disk.Region) string {
	if r.Len() < sector {
		return ""
	}
	switch string(r.Bytes()[bootNameAt : bootNameAt+bootNameBytes]) {
	case "NTFS    ":
		return "NTFS"
	case "EXFAT   ":
		return "exfat"
	case "-FVE-FS-":
		return "BitLocker"
	}
	bytesPerSector, perCluster := r.U16(fatSectorBytesAt), r.U8(fatPerClusterAt)
	reserved, fats, media := r.U16(fatReservedAt), r.U8(fatCountAt), r.U8(fatMediaAt)
	if jump := r.U8(0); jump != 0xeb && jump != 0xe9 {
		return ""
	}
	if bytesPerSector < 512 || bytesPerSector > 4096 || bytesPerSector&(bytesPerSector-1) != 0 ||
		perCluster == 0 || perCluster&(perCluster-1) != 0 || reserved == 0 || fats == 0 || fats > 4 ||
		media != 0xf0 && media < 0xf8 {
		return ""
	}
	return "vfat"
}
