package btrfs

import "fsward/change"

// The fields of objects, by the names that rules use.
const (
	_ change.Field = iota // change.FieldObject
	fieldGeneration
	fieldTransID
	fieldSize
	fieldNBytes
	fieldBlockGroup
	fieldNLink
	fieldUID
	fieldGID
	fieldModeType
	fieldModePerm
	fieldRDev
	fieldFlags
	fieldNoDataSum
	fieldNoDataCow
	fieldReadOnly
	fieldNoCompress
	fieldPrealloc
	fieldSync
	fieldImmutable
	fieldAppend
	fieldCompress
	fieldSequence
	fieldATime
	fieldCTime
	fieldMTime
	fieldOTime
	fieldName
	fieldNameLen
	fieldDataLen
	fieldLocation
	fieldType
	fieldDiskBytenr
	fieldDiskNumBytes
	fieldExtentOffset
	fieldNumBytes
	fieldRAMBytes
	fieldCompression
	fieldRefs
	fieldFullBackref
	fieldReloc
	fieldRoot
	fieldObjectID
	fieldOffset
	fieldCount
	fieldParent
	fieldUsed
	fieldChunkObjectID
	fieldChunkTree
	fieldChunkOffset
	fieldLength
	fieldOwner
	fieldStripeLen
	fieldNumStripes
	fieldSubStripes
	fieldSectorSize
	fieldDevID
	fieldTotalBytes
	fieldBytesUsed
	fieldIOAlign
	fieldIOWidth
	fieldStartOffset
	fieldRootDirID
	fieldBytenr
	fieldByteLimit
	fieldLastSnapshot
	fieldDropProgress
	fieldDropLevel
	fieldLevel
	fieldDirID
	fieldNSums
	fieldExtentCount
	fieldFree
	fieldFirst
	fieldLast
	fieldNumEntries
	fieldNumBitmaps
	fieldVersion
	fieldRescan
	fieldReferenced
	fieldReferencedCompressed
	fieldExclusive
	fieldExclusiveCompressed
	fieldMaxReferenced
	fieldMaxExclusive
	fieldReservedReferenced
	fieldReservedExclusive
	fieldSectorsize
	fieldNodesize
	fieldCsumType
	fieldNumDevices
	fieldCacheGeneration
	fieldLogRoot
	fieldSuperDevTotal
	fieldSuperDevUsed
	fieldLogOf
	fieldChunk
	fieldBackref
	fieldLeaf
	fieldNoHoles
	fieldFreeSpaceValid
	fieldUUIDTreeGeneration
	fieldLink
	fieldUUID
	fieldReceivedUUID
	fieldCTransID
	fieldOTransID
	fieldRTransID
	fieldEndOffset
	fieldQuotaOn
	fieldQuotaRescan
	fieldQuotaInconsistent
	fieldEnd
)

var fieldNames = [fieldEnd]string{
	change.FieldObject: "object", fieldGeneration: "generation", fieldTransID: "transid", fieldSize: "size",
	fieldNBytes: "nbytes", fieldBlockGroup: "block_group", fieldNLink: "nlink", fieldUID: "uid", fieldGID: "gid",
	fieldModeType: "f(mode,s_ifmt)", fieldModePerm: "f(mode,perm)", fieldRDev: "rdev", fieldFlags: "flags",
	fieldNoDataSum: "f(flags,nodatasum)", fieldNoDataCow: "f(flags,nodatacow)", fieldReadOnly: "f(flags,readonly)",
	fieldNoCompress: "f(flags,nocompress)", fieldPrealloc: "f(flags,prealloc)", fieldSync: "f(flags,sync)",
	fieldImmutable: "f(flags,immutable)", fieldAppend: "f(flags,append)", fieldCompress: "f(flags,compress)",
	fieldSequence: "sequence", fieldATime: "atime", fieldCTime: "ctime", fieldMTime: "mtime", fieldOTime: "otime",
	fieldName: "name", fieldNameLen: "name_len", fieldDataLen: "data_len", fieldLocation: "location", fieldType: "type",
	fieldDiskBytenr: "disk_bytenr", fieldDiskNumBytes: "disk_num_bytes", fieldExtentOffset: "extent_offset",
	fieldNumBytes: "num_bytes", fieldRAMBytes: "ram_bytes", fieldCompression: "compression", fieldRefs: "refs",
	fieldFullBackref: "f(flags,full_backref)", fieldReloc: "f(flags,reloc)", fieldRoot: "root", fieldObjectID: "objectid", fieldOffset: "offset",
	fieldCount: "count", fieldParent: "parent", fieldUsed: "used", fieldChunkObjectID: "chunk_objectid",
	fieldChunkTree: "chunk_tree", fieldChunkOffset: "chunk_offset", fieldLength: "length", fieldOwner: "owner",
	fieldStripeLen: "stripe_len", fieldNumStripes: "num_stripes", fieldSubStripes: "sub_stripes",
	fieldSectorSize: "sector_size",
	fieldDevID:      "devid", fieldTotalBytes: "total_bytes", fieldBytesUsed: "bytes_used", fieldIOAlign: "io_align",
	fieldIOWidth: "io_width", fieldStartOffset: "start_offset", fieldRootDirID: "root_dirid", fieldBytenr: "bytenr",
	fieldByteLimit: "byte_limit", fieldLastSnapshot: "last_snapshot", fieldDropProgress: "drop_progress",
	fieldDropLevel: "drop_level", fieldLevel: "level", fieldDirID: "dirid", fieldNSums: "nsums",
	fieldExtentCount: "extent_count", fieldFree: "free", fieldFirst: "first", fieldLast: "last", fieldNumEntries: "num_entries", fieldNumBitmaps: "num_bitmaps",
	fieldVersion: "version", fieldRescan: "rescan", fieldReferenced: "rfer", fieldReferencedCompressed: "rfer_cmpr",
	fieldExclusive: "excl", fieldExclusiveCompressed: "excl_cmpr", fieldMaxReferenced: "max_rfer",
	fieldMaxExclusive: "max_excl", fieldReservedReferenced: "rsv_rfer", fieldReservedExclusive: "rsv_excl",
	fieldSectorsize: "sectorsize", fieldNodesize: "nodesize", fieldCsumType: "csum_type", fieldNumDevices: "num_devices",
	fieldCacheGeneration: "cache_generation", fieldLogRoot: "log_root", fieldSuperDevTotal: "f(dev_item,total_bytes)",
	fieldSuperDevUsed: "f(dev_item,bytes_used)", fieldLogOf: "log_of", fieldChunk: "chunk", fieldBackref: "backref", fieldLeaf: "leaf",
	fieldNoHoles: "f(incompat_flags,no_holes)", fieldFreeSpaceValid: "f(compat_ro_flags,free_space_tree_valid)", fieldUUIDTreeGeneration: "uuid_tree_generation", fieldLink: "link",
	fieldUUID: "uuid", fieldReceivedUUID: "received_uuid", fieldCTransID: "ctransid", fieldOTransID: "otransid",
	fieldRTransID: "rtransid", fieldEndOffset: "end", fieldQuotaOn: "f(flags,on)", fieldQuotaRescan: "f(flags,rescan)",
	fieldQuotaInconsistent: "f(flags,inconsistent)",
}

// Words in values.
const (
	wordNone change.WordID = iota // change.WordPresent: no number has it
	wordReg
	wordDir
	wordChr
	wordBlk
	wordFifo
	wordSock
	wordLnk
	wordData
	wordTreeBlock
	wordInline
	wordPrealloc
	wordCount
)

var words = [wordCount]string{"present", "s_ifreg", "s_ifdir", "s_ifchr", "s_ifblk", "s_ififo", "s_ifsock", "s_iflnk",
	"data", "tree_block", "inline", "prealloc"}

// What numbers stand for, by their value; wordNone where a value is invalid.
var (
	modeWords   = []change.WordID{1: wordFifo, 2: wordChr, 4: wordDir, 6: wordBlk, 8: wordReg, 10: wordLnk, 12: wordSock, 15: wordNone}
	entryWords  = []change.WordID{1: wordReg, 2: wordDir, 3: wordChr, 4: wordBlk, 5: wordFifo, 6: wordSock, 7: wordLnk}
	extentWords = []change.WordID{extentFlagData: wordData, extentFlagTreeBlock: wordTreeBlock, 3: wordNone}
	dataWords   = []change.WordID{0: wordInline, 1: wordData, 2: wordPrealloc}
)

// A structure is the layout of a structure of linux/btrfs_tree.h. It drives decoding, differencing and
// the alterer alike; a test holds it against the header.
type structure struct {
	name   string // in C
	size   int
	fields []layoutField
}

// layoutField is a member of a structure. With width keySize it is a btrfs_disk_key, with width uuidSize
// a UUID: its value is the key of the items of the uuid tree that are about it.
type layoutField struct {
	member     string // in C
	off, width int
	field      change.Field // 0: no field of its own
	quiet      bool         // the View answers it, but its changes make no record (thesis 4.3.1)
	words      []change.WordID
	parts      []layoutPart
	kind       change.Kind // of the key that stands for a UUID
}

// layoutPart is a group of bits of a member that is a field by itself.
type layoutPart struct {
	field change.Field
	mask  uint64
	shift uint
	quiet bool
	words []change.WordID
}

var inodeItemLayout = structure{"btrfs_inode_item", 160, []layoutField{
	{member: "generation", off: 0, width: 8, field: fieldGeneration},
	{member: "transid", off: 8, width: 8, field: fieldTransID, quiet: true},
	{member: "size", off: 16, width: 8, field: fieldSize},
	{member: "nbytes", off: 24, width: 8, field: fieldNBytes},
	{member: "block_group", off: 32, width: 8, field: fieldBlockGroup, quiet: true},
	{member: "nlink", off: 40, width: 4, field: fieldNLink},
	{member: "uid", off: 44, width: 4, field: fieldUID},
	{member: "gid", off: 48, width: 4, field: fieldGID},
	{member: "mode", off: 52, width: 4, parts: []layoutPart{
		{field: fieldModeType, mask: 0xf000, shift: 12, words: modeWords}, {field: fieldModePerm, mask: 0xfff}}},
	{member: "rdev", off: 56, width: 8, field: fieldRDev},
	{member: "flags", off: 64, width: 8, field: fieldFlags, parts: []layoutPart{
		{field: fieldNoDataSum, mask: 1}, {field: fieldNoDataCow, mask: 2, shift: 1, quiet: true},
		{field: fieldReadOnly, mask: 4, shift: 2, quiet: true}, {field: fieldNoCompress, mask: 8, shift: 3, quiet: true},
		{field: fieldPrealloc, mask: 16, shift: 4, quiet: true}, {field: fieldSync, mask: 32, shift: 5, quiet: true},
		{field: fieldImmutable, mask: 64, shift: 6, quiet: true}, {field: fieldAppend, mask: 128, shift: 7, quiet: true},
		{field: fieldCompress, mask: 2048, shift: 11, quiet: true}}},
	{member: "sequence", off: 72, width: 8, field: fieldSequence, quiet: true},
	{member: "atime", off: 112, width: 8, field: fieldATime, quiet: true},
	{member: "ctime", off: 124, width: 8, field: fieldCTime, quiet: true},
	{member: "mtime", off: 136, width: 8, field: fieldMTime, quiet: true},
	{member: "otime", off: 148, width: 8, field: fieldOTime, quiet: true},
}}

var inodeRefLayout = structure{"btrfs_inode_ref", 10, []layoutField{
	{member: "index", off: 0, width: 8},
	{member: "name_len", off: 8, width: 2, field: fieldNameLen},
}}

var inodeExtrefLayout = structure{"btrfs_inode_extref", 18, []layoutField{
	{member: "parent_objectid", off: 0, width: 8},
	{member: "index", off: 8, width: 8},
	{member: "name_len", off: 16, width: 2, field: fieldNameLen},
}}

var dirLogLayout = structure{"btrfs_dir_log_item", 8, []layoutField{
	{member: "end", off: 0, width: 8, field: fieldEndOffset},
}}

var dirItemLayout = structure{"btrfs_dir_item", 30, []layoutField{
	{member: "location", off: 0, width: keySize, field: fieldLocation},
	{member: "transid", off: 17, width: 8, field: fieldTransID, quiet: true},
	{member: "data_len", off: 25, width: 2, field: fieldDataLen, quiet: true},
	{member: "name_len", off: 27, width: 2, field: fieldNameLen},
	{member: "type", off: 29, width: 1, field: fieldType, words: entryWords},
}}

var fileExtentLayout = structure{"btrfs_file_extent_item", 53, []layoutField{
	{member: "generation", off: 0, width: 8, field: fieldGeneration, quiet: true},
	{member: "ram_bytes", off: 8, width: 8, field: fieldRAMBytes},
	{member: "compression", off: 16, width: 1, field: fieldCompression},
	{member: "type", off: 20, width: 1, field: fieldType, words: dataWords},
	{member: "disk_bytenr", off: 21, width: 8, field: fieldDiskBytenr},
	{member: "disk_num_bytes", off: 29, width: 8, field: fieldDiskNumBytes},
	{member: "offset", off: 37, width: 8, field: fieldExtentOffset},
	{member: "num_bytes", off: 45, width: 8, field: fieldNumBytes},
}}

var extentItemLayout = structure{"btrfs_extent_item", 24, []layoutField{
	{member: "refs", off: 0, width: 8, field: fieldRefs},
	{member: "generation", off: 8, width: 8, field: fieldGeneration},
	{member: "flags", off: 16, width: 8, parts: []layoutPart{
		{field: fieldFlags, mask: 3, words: extentWords}}},
}}

var extentDataRefLayout = structure{"btrfs_extent_data_ref", 28, []layoutField{
	{member: "root", off: 0, width: 8, field: fieldRoot},
	{member: "objectid", off: 8, width: 8, field: fieldObjectID},
	{member: "offset", off: 16, width: 8, field: fieldOffset},
	{member: "count", off: 24, width: 4, field: fieldCount},
}}

var sharedDataRefLayout = structure{"btrfs_shared_data_ref", 4, []layoutField{
	{member: "count", off: 0, width: 4, field: fieldCount},
}}

var blockGroupLayout = structure{"btrfs_block_group_item", 24, []layoutField{
	{member: "used", off: 0, width: 8, field: fieldUsed},
	{member: "chunk_objectid", off: 8, width: 8, field: fieldChunkObjectID},
	{member: "flags", off: 16, width: 8, field: fieldFlags},
}}

var freeSpaceInfoLayout = structure{"btrfs_free_space_info", 8, []layoutField{
	{member: "extent_count", off: 0, width: 4, field: fieldExtentCount},
	{member: "flags", off: 4, width: 4, field: fieldFlags},
}}

var freeSpaceHeaderLayout = structure{"btrfs_free_space_header", 41, []layoutField{
	{member: "location", off: 0, width: keySize, field: fieldLocation},
	{member: "generation", off: 17, width: 8, field: fieldGeneration},
	{member: "num_entries", off: 25, width: 8, field: fieldNumEntries},
	{member: "num_bitmaps", off: 33, width: 8, field: fieldNumBitmaps},
}}

var devExtentLayout = structure{"btrfs_dev_extent", 48, []layoutField{
	{member: "chunk_tree", off: 0, width: 8, field: fieldChunkTree},
	{member: "chunk_objectid", off: 8, width: 8, field: fieldChunkObjectID},
	{member: "chunk_offset", off: 16, width: 8, field: fieldChunkOffset},
	{member: "length", off: 24, width: 8, field: fieldLength},
}}

var devItemLayout = structure{"btrfs_dev_item", 98, []layoutField{
	{member: "devid", off: 0, width: 8, field: fieldDevID},
	{member: "total_bytes", off: 8, width: 8, field: fieldTotalBytes},
	{member: "bytes_used", off: 16, width: 8, field: fieldBytesUsed},
	{member: "io_align", off: 24, width: 4, field: fieldIOAlign, quiet: true},
	{member: "io_width", off: 28, width: 4, field: fieldIOWidth, quiet: true},
	{member: "sector_size", off: 32, width: 4, field: fieldSectorSize},
	{member: "type", off: 36, width: 8, field: fieldType},
	{member: "generation", off: 44, width: 8, field: fieldGeneration},
	{member: "start_offset", off: 52, width: 8, field: fieldStartOffset, quiet: true},
}}

var chunkLayout = structure{"btrfs_chunk", chunkItemSize, []layoutField{
	{member: "length", off: 0, width: 8, field: fieldLength},
	{member: "owner", off: 8, width: 8, field: fieldOwner},
	{member: "stripe_len", off: 16, width: 8, field: fieldStripeLen},
	{member: "type", off: 24, width: 8, field: fieldType},
	{member: "io_align", off: 32, width: 4, field: fieldIOAlign, quiet: true},
	{member: "io_width", off: 36, width: 4, field: fieldIOWidth, quiet: true},
	{member: "sector_size", off: 40, width: 4, field: fieldSectorSize},
	{member: "num_stripes", off: 44, width: 2, field: fieldNumStripes},
	{member: "sub_stripes", off: 46, width: 2, field: fieldSubStripes},
	{member: "stripe.devid", off: 48, width: 8},
	{member: "stripe.offset", off: 56, width: 8},
}}

// legacyRootItemSize is that of a root item without generation_v2 and what follows it.
const legacyRootItemSize = 239

var rootItemLayout = structure{"btrfs_root_item", 439, []layoutField{
	{member: "generation", off: 160, width: 8, field: fieldGeneration},
	{member: "root_dirid", off: 168, width: 8, field: fieldRootDirID},
	{member: "bytenr", off: 176, width: 8, field: fieldBytenr},
	{member: "byte_limit", off: 184, width: 8, field: fieldByteLimit},
	{member: "bytes_used", off: 192, width: 8, field: fieldBytesUsed},
	{member: "last_snapshot", off: 200, width: 8, field: fieldLastSnapshot},
	{member: "flags", off: 208, width: 8, field: fieldFlags},
	{member: "refs", off: 216, width: 4, field: fieldRefs},
	{member: "drop_progress", off: 220, width: keySize, field: fieldDropProgress},
	{member: "drop_level", off: 237, width: 1, field: fieldDropLevel},
	{member: "level", off: 238, width: 1, field: fieldLevel},
	{member: "uuid", off: 247, width: uuidSize, field: fieldUUID, kind: kindUUIDSubvol},
	{member: "received_uuid", off: 279, width: uuidSize, field: fieldReceivedUUID, kind: kindUUIDReceived},
	{member: "ctransid", off: 295, width: 8, field: fieldCTransID},
	{member: "otransid", off: 303, width: 8, field: fieldOTransID},
	{member: "rtransid", off: 319, width: 8, field: fieldRTransID},
}}

var rootRefLayout = structure{"btrfs_root_ref", 18, []layoutField{
	{member: "dirid", off: 0, width: 8, field: fieldDirID},
	{member: "sequence", off: 8, width: 8, field: fieldSequence},
	{member: "name_len", off: 16, width: 2, field: fieldNameLen},
}}

var qgroupStatusLayout = structure{"btrfs_qgroup_status_item", 32, []layoutField{
	{member: "version", off: 0, width: 8, field: fieldVersion},
	{member: "generation", off: 8, width: 8, field: fieldGeneration, quiet: true},
	{member: "flags", off: 16, width: 8, field: fieldFlags, parts: []layoutPart{
		{field: fieldQuotaOn, mask: 1, quiet: true}, {field: fieldQuotaRescan, mask: 2, shift: 1, quiet: true},
		{field: fieldQuotaInconsistent, mask: 4, shift: 2, quiet: true}}},
	{member: "rescan", off: 24, width: 8, field: fieldRescan},
}}

var qgroupInfoLayout = structure{"btrfs_qgroup_info_item", 40, []layoutField{
	{member: "generation", off: 0, width: 8, field: fieldGeneration, quiet: true},
	{member: "rfer", off: 8, width: 8, field: fieldReferenced},
	{member: "rfer_cmpr", off: 16, width: 8, field: fieldReferencedCompressed},
	{member: "excl", off: 24, width: 8, field: fieldExclusive},
	{member: "excl_cmpr", off: 32, width: 8, field: fieldExclusiveCompressed},
}}

var qgroupLimitLayout = structure{"btrfs_qgroup_limit_item", 40, []layoutField{
	{member: "flags", off: 0, width: 8, field: fieldFlags},
	{member: "max_rfer", off: 8, width: 8, field: fieldMaxReferenced},
	{member: "max_excl", off: 16, width: 8, field: fieldMaxExclusive},
	{member: "rsv_rfer", off: 24, width: 8, field: fieldReservedReferenced},
	{member: "rsv_excl", off: 32, width: 8, field: fieldReservedExclusive},
}}

// superLayout is of struct btrfs_super_block (fs/btrfs/fs.h), which no header for programs has.
var superLayout = structure{"btrfs_super_block", superSize, []layoutField{
	{member: "generation", off: 72, width: 8, field: fieldGeneration},
	{member: "log_root", off: 96, width: 8, field: fieldLogRoot, quiet: true},
	{member: "total_bytes", off: 112, width: 8, field: fieldTotalBytes},
	{member: "bytes_used", off: 120, width: 8, field: fieldBytesUsed},
	{member: "num_devices", off: 136, width: 8, field: fieldNumDevices},
	{member: "sectorsize", off: 144, width: 4, field: fieldSectorsize},
	{member: "nodesize", off: 148, width: 4, field: fieldNodesize},
	{member: "compat_ro_flags", off: 180, width: 8, parts: []layoutPart{{field: fieldFreeSpaceValid, mask: 1 << 1, shift: 1, quiet: true}}},
	{member: "incompat_flags", off: 188, width: 8, parts: []layoutPart{{field: fieldNoHoles, mask: 1 << 9, shift: 9, quiet: true}}},
	{member: "csum_type", off: 196, width: 2, field: fieldCsumType},
	{member: "dev_item.devid", off: 201, width: 8, field: fieldDevID},
	{member: "dev_item.total_bytes", off: 209, width: 8, field: fieldSuperDevTotal},
	{member: "dev_item.bytes_used", off: 217, width: 8, field: fieldSuperDevUsed},
	{member: "cache_generation", off: 555, width: 8, field: fieldCacheGeneration, quiet: true},
	{member: "uuid_tree_generation", off: 563, width: 8, field: fieldUUIDTreeGeneration, quiet: true},
}}
