package ondisk

// FSName is the name of the file system in schemas, errors and reports.
const FSName = "btrfs"

// Object IDs of trees and special inodes, and limits (linux/btrfs_tree.h). A comment shows the
// negative number that the header writes for an ID at the top of the 64 bits.
const (
	RootTreeID       = 1
	ExtentTreeID     = 2
	ChunkTreeID      = 3
	DevTreeID        = 4
	FSTreeID         = 5
	CsumTreeID       = 7
	QuotaTreeID      = 8
	UUIDTreeID       = 9
	FreeSpaceTreeID  = 10
	BlockGroupTreeID = 11
	DevItemsID       = 1 // objectid of every dev_item
	RootTreeDirID    = 6 // the directory in the root tree that names the default subvolume
	FirstFreeID      = 256
	LastFreeID       = ^uint64(255)     // -256
	BalanceID        = ^uint64(3)       // -4
	OrphanID         = ^uint64(4)       // -5
	LogFixupID       = ^uint64(6)       // -7: inodes whose links log replay still has to count
	TreeRelocID      = ^uint64(7)       // -8
	TreeLogID        = ^uint64(5)       // -6
	DataRelocTreeID  = ^uint64(8)       // -9
	ExtentCsumID     = ^uint64(9)       // -10
	FreeSpaceID      = ^uint64(10)      // -11: objectid of the headers of v1 space caches
	FreeInoID        = ^uint64(11)      // -12: the inode cache that kernels before 5.11 kept
	FirstChunkTreeID = uint64(256)      // objectid of every chunk item
	MaxLevel         = 8                // BTRFS_MAX_LEVEL
	MaxNodeSize      = 64 << 10         // BTRFS_MAX_METADATA_BLOCKSIZE
	StripeLen        = uint64(64 << 10) // BTRFS_STRIPE_LEN
	MaxNameLen       = 255              // BTRFS_NAME_LEN
)

// Key types (linux/btrfs_tree.h).
const (
	FreeSpaceHeaderKey = 0 // (FREE_SPACE, 0, block group): the header of a v1 free space cache
	InodeItemKey       = 1
	InodeRefKey        = 12
	InodeExtrefKey     = 13
	XattrItemKey       = 24
	VerityDescKey      = 36
	VerityMerkleKey    = 37
	OrphanItemKey      = 48
	DirLogItemKey      = 60
	DirLogIndexKey     = 72
	DirItemKey         = 84
	DirIndexKey        = 96
	ExtentDataKey      = 108
	ExtentCsumKey      = 128
	RootItemKey        = 132
	RootBackrefKey     = 144
	RootRefKey         = 156
	ExtentItemKey      = 168
	MetadataItemKey    = 169
	ExtentOwnerRefKey  = 172 // the tree that simple quotas charge; only inside extent items
	TreeBlockRefKey    = 176
	ExtentDataRefKey   = 178
	SharedBlockRefKey  = 182
	SharedDataRefKey   = 184
	BlockGroupItemKey  = 192
	FreeSpaceInfoKey   = 198
	FreeSpaceExtentKey = 199
	FreeSpaceBitmapKey = 200
	DevExtentKey       = 204
	DevItemKey         = 216
	ChunkItemKey       = 228
	QgroupStatusKey    = 240
	QgroupInfoKey      = 242
	QgroupLimitKey     = 244
	QgroupRelationKey  = 246
	TemporaryItemKey   = 248
	PersistentItemKey  = 249
	DevReplaceKey      = 250
	UUIDSubvolKey      = 251
	UUIDReceivedKey    = 252
)

// Flags of chunks and block groups.
const (
	GroupData     = 1 << 0
	GroupSystem   = 1 << 1
	GroupMetadata = 1 << 2
	GroupRAID0    = 1 << 3
	GroupRAID1    = 1 << 4
	GroupDUP      = 1 << 5
	GroupRAID10   = 1 << 6
	GroupRAID5    = 1 << 7
	GroupRAID6    = 1 << 8
	GroupRAID1C3  = 1 << 9
	GroupRAID1C4  = 1 << 10
	GroupTypes    = GroupData | GroupSystem | GroupMetadata
	GroupProfiles = 0x7f8 // RAID0 … RAID1C4
)

// Flags of extent items.
const (
	ExtentFlagData        = 1 << 0
	ExtentFlagTreeBlock   = 1 << 1
	ExtentFlagFullBackref = 1 << 8
)

// Flags in the header of a node (BTRFS_HEADER_FLAG_*).
const (
	HeaderFlagWritten = 1 << 0 // set in every node on disk
	HeaderFlagReloc   = 1 << 1 // balance is moving the node
)

// Types of a directory entry (BTRFS_FT_*).
const (
	FileTypeXattr = 8
	fileTypeMax   = 9
)
