package ondisk

import "fsward/change"

// groups names the objects of one id, and of one key or first number of a pair, of the kinds of
// which there may be many: see change.KindInfo. A tree has one root item; only those of relocation,
// at most one for each subvolume, share an id. Few references to an extent share a hash of 64 bits:
// the kernel itself tries one after the other (lookup_extent_data_ref).
var groups = map[change.Kind]struct{ ofID, ofKey string }{
	KindInodeRef:       {"names of one inode", "names of one inode in one directory"},
	KindInodeExtref:    {"names of one inode", "names of one inode in one directory"},
	KindXattrItem:      {"xattrs of one file", "xattrs of one hash"},
	KindVerityMerkle:   {"parts of one Merkle tree", ""},
	KindOrphanItem:     {"orphans", ""},
	KindDirLogItem:     {"logged ranges of one directory", ""},
	KindDirLogIndex:    {"logged ranges of one directory", ""},
	KindDirItem:        {"entries of one directory", "names of one hash"},
	KindDirIndex:       {"entries of one directory", ""},
	KindExtentData:     {"extents of one file", ""},
	KindExtentCsum:     {"checksum items", ""},
	KindRootRef:        {"subvolumes of one tree", ""},
	KindTreeBlockRef:   {"references to one block", ""},
	KindSharedBlockRef: {"references to one block", ""},
	KindExtentDataRef:  {"references to one extent", ""},
	KindSharedDataRef:  {"references to one extent", ""},
	KindDevExtent:      {"extents of one device", ""},
	KindDevItem:        {"devices", ""},
	KindChunkItem:      {"chunks", ""},
	KindChunkStripe:    {"stripes", "stripes of one chunk"},
	KindQgroupInfo:     {"quota groups", ""},
	KindQgroupLimit:    {"quota groups", ""},
	KindQgroupRelation: {"relations of one quota group", ""},
	KindUUIDSubvol:     {"subvolumes of one UUID", "subvolumes of one UUID"},
	KindUUIDReceived:   {"subvolumes of one UUID", "subvolumes of one UUID"},
	KindBlockPointers:  {"pointers of one block", ""},
	KindFreeSpaceRun:   {"runs of one bitmap", "runs of one bitmap"},
}
