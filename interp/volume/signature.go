package volume

import (
	"fsward/interp/disk"
)

// hasSuperblock reports whether a device has the superblock of a file system that fsward knows:
// ext2 to ext4, or Btrfs.
func hasSuperblock(d *device) (bool, error) {
	for _, magic := range []struct {
		off  uint64
		text string
	}{{1024 + 56, "\x53\xef"}, {64<<10 + 64, "_BHRfS_M"}} {
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
	switch string(r.Bytes()[3:11]) {
	case "NTFS    ":
		return "NTFS"
	case "EXFAT   ":
		return "exfat"
	case "-FVE-FS-":
		return "BitLocker"
	}
	bytesPerSector, perCluster := r.U16(11), r.U8(13)
	reserved, fats, media := r.U16(14), r.U8(16), r.U8(21)
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
