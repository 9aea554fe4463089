// Package btrfs follows a Btrfs file system from below: it recognises commits among the writes of a
// guest, checks the structure of what they wrote, and turns the difference between two commits into
// change records. A file system may have several devices: they are then the disks of an interp.Set, whose
// addresses are the device addresses of this package.
//
// Names are those of the kernel's linux/btrfs_tree.h and fs/btrfs. Where code follows a kernel
// function, the comment names it.
package btrfs

import (
	"hash/crc32"
)

// Object ids that stand for trees and special inodes (linux/btrfs_tree.h). Negative ones are the top of
// the 64 bits.
const (
	rootTreeID       = 1
	extentTreeID     = 2
	chunkTreeID      = 3
	devTreeID        = 4
	fsTreeID         = 5
	csumTreeID       = 7
	quotaTreeID      = 8
	uuidTreeID       = 9
	freeSpaceTreeID  = 10
	blockGroupTreeID = 11
	devItemsID       = 1 // objectid of every dev_item
	rootTreeDirID    = 6 // the directory in the root tree that names the default subvolume
	firstFreeID      = 256
	lastFreeID       = ^uint64(255)     // -256
	balanceID        = ^uint64(3)       // -4
	orphanID         = ^uint64(4)       // -5
	logFixupID       = ^uint64(6)       // -7: inodes whose links the replay of a log still has to count
	treeRelocID      = ^uint64(7)       // -8
	treeLogID        = ^uint64(5)       // -6
	dataRelocTreeID  = ^uint64(8)       // -9
	extentCsumID     = ^uint64(9)       // -10
	freeSpaceID      = ^uint64(10)      // -11: objectid of the headers of v1 space caches
	freeInoID        = ^uint64(11)      // -12: the inode cache that kernels before 5.11 kept
	firstChunkTreeID = uint64(256)      // objectid of every chunk item
	maxLevel         = 8                // BTRFS_MAX_LEVEL
	maxNodeSize      = 64 << 10         // BTRFS_MAX_METADATA_BLOCKSIZE
	stripeLen        = uint64(64 << 10) // BTRFS_STRIPE_LEN
	maxNameLen       = 255              // BTRFS_NAME_LEN
)

// Key types (linux/btrfs_tree.h).
const (
	freeSpaceHeaderKey = 0 // (FREE_SPACE, 0, block group): the header of a v1 free space cache
	inodeItemKey       = 1
	inodeRefKey        = 12
	inodeExtrefKey     = 13
	xattrItemKey       = 24
	verityDescKey      = 36
	verityMerkleKey    = 37
	orphanItemKey      = 48
	dirLogItemKey      = 60
	dirLogIndexKey     = 72
	dirItemKey         = 84
	dirIndexKey        = 96
	extentDataKey      = 108
	extentCsumKey      = 128
	rootItemKey        = 132
	rootBackrefKey     = 144
	rootRefKey         = 156
	extentItemKey      = 168
	metadataItemKey    = 169
	extentOwnerRefKey  = 172 // who is charged for data under simple quotas: inside extent items alone, no reference
	treeBlockRefKey    = 176
	extentDataRefKey   = 178
	sharedBlockRefKey  = 182
	sharedDataRefKey   = 184
	blockGroupItemKey  = 192
	freeSpaceInfoKey   = 198
	freeSpaceExtentKey = 199
	freeSpaceBitmapKey = 200
	devExtentKey       = 204
	devItemKey         = 216
	chunkItemKey       = 228
	qgroupStatusKey    = 240
	qgroupInfoKey      = 242
	qgroupLimitKey     = 244
	qgroupRelationKey  = 246
	temporaryItemKey   = 248
	persistentItemKey  = 249
	devReplaceKey      = 250
	uuidSubvolKey      = 251
	uuidReceivedKey    = 252
)

// Flags of chunks and block groups.
const (
	groupData     = 1 << 0
	groupSystem   = 1 << 1
	groupMetadata = 1 << 2
	groupRAID0    = 1 << 3
	groupRAID1    = 1 << 4
	groupDUP      = 1 << 5
	groupRAID10   = 1 << 6
	groupRAID56   = 1<<7 | 1<<8
	groupRAID1C3  = 1 << 9
	groupRAID1C4  = 1 << 10
	groupTypes    = groupData | groupSystem | groupMetadata
	groupProfiles = 0x7f8 // RAID0 … RAID1C4
)

// Flags of extent items.
const (
	extentFlagData        = 1 << 0
	extentFlagTreeBlock   = 1 << 1
	extentFlagFullBackref = 1 << 8
)

// Flags in the header of a node (BTRFS_HEADER_FLAG_*).
const (
	headerFlagWritten = 1 << 0 // every node on disk has it
	headerFlagReloc   = 1 << 1 // a node that balance is moving
)

// Types of a directory entry (BTRFS_FT_*).
const (
	fileTypeXattr = 8
	fileTypeMax   = 9
)

// key is struct btrfs_disk_key.
type key struct {
	objectid uint64
	typ      uint8
	offset   uint64
}

const (
	keySize  = 17
	uuidSize = 16 // BTRFS_UUID_SIZE
)

// compare orders keys as btrfs_comp_cpu_keys does.
func (k key) compare(o key) int {
	switch {
	case k.objectid != o.objectid:
		return order(k.objectid < o.objectid)
	case k.typ != o.typ:
		return order(k.typ < o.typ)
	case k.offset != o.offset:
		return order(k.offset < o.offset)
	default:
		return 0
	}
}

func order(less bool) int {
	if less {
		return -1
	}
	return 1
}

// fileTree tells whether a tree holds files and directories: the top level or a subvolume. Numbers with
// bits in the upper 16 are those of quota groups (btrfs_is_fstree).
func fileTree(id uint64) bool {
	return id == fsTreeID || id >= firstFreeID && id>>48 == 0
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// rawCRC32C is the kernel's crc32c(seed, b): without the inversions that Go's has at both ends.
func rawCRC32C(seed uint32, b []byte) uint32 { return ^crc32.Update(^seed, castagnoli, b) }

// nameHash is btrfs_name_hash.
func nameHash(name []byte) uint64 { return uint64(rawCRC32C(^uint32(1), name)) }

// extrefHash is btrfs_extref_hash: the key offset of an inode_extref.
func extrefHash(parent uint64, name []byte) uint64 { return uint64(rawCRC32C(uint32(parent), name)) }
