package volume

// Offsets of members of on-disk structures, in bytes. Each stands here once.

// The header of a GPT and its entries (UEFI Specification 2.10, tables 5.5 and 5.6).
const (
	gptHeaderSizeAt  = 12
	gptHeaderCRCAt   = 16
	gptMyLBAAt       = 24
	gptAlternateAt   = 32
	gptFirstUsableAt = 40
	gptLastUsableAt  = 48
	gptDiskGUIDAt    = 56
	gptEntriesAt     = 72
	gptCountAt       = 80
	gptEntrySizeAt   = 84
	gptArrayCRCAt    = 88

	entryTypeAt  = 0
	entryGUIDAt  = 16
	entryFirstAt = 32
	entryLastAt  = 40
)

// mbrSignatureAt is the disk signature of an MBR.
const mbrSignatureAt = 440

// The label of a PV and the header that it leads to (label_header, pv_header, mda_header, raw_locn
// in LVM2's lib/format_text/layout.h).
const (
	labelSectorAt = 8
	labelCRCAt    = 16 // of the bytes from labelStartAt on
	labelStartAt  = 20 // offset of the pv_header in the sector
	labelTypeAt   = 24

	pvIDBytes = 32
	pvSizeAt  = pvIDBytes // from the start of the pv_header
	pvListsAt = pvSizeAt + 8
	rangeSize = 16 // of an element of the lists

	mdaCRCAt     = 0 // of the bytes from mdaMagicAt on
	mdaMagicAt   = 4
	mdaVersionAt = 20
	mdaStartAt   = 24
	mdaSizeAt    = 32

	locationSizeAt  = 8
	locationCRCAt   = 16
	locationFlagsAt = 20
)

// The superblock of md (struct mdp_superblock_1). That of version 0.90 begins alike.
const (
	mdMagicAt  = 0
	mdMajorAt  = 4
	mdSectorAt = 144 // super_offset
)

// The superblock of ext2 to ext4 (struct ext4_super_block) and of Btrfs (struct btrfs_super_block).
const (
	extSuper        = 1024 // on the device
	extMagic        = 0xef53
	extBlocksAt     = 4
	extBlockShiftAt = 24
	extMagicAt      = 56
	extStateAt      = 58
	extCompatAt     = 92
	extIncompatAt   = 96
	extBlocksHighAt = 0x150

	btrfsSuper     = 64 << 10 // on the device
	btrfsMagicAt   = 64
	btrfsDevSizeAt = 0xc9 + 8 // dev_item.total_bytes
)

// The boot sector of FAT (struct fat_boot_sector), exFAT and NTFS.
const (
	bootNameAt       = 3
	bootNameBytes    = 8
	fatSectorBytesAt = 11
	fatPerClusterAt  = 13
	fatReservedAt    = 14
	fatCountAt       = 16
	fatMediaAt       = 21
)
