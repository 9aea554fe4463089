package ondisk

import "fsward/change"

// The fields of objects. fieldNames has the names that rules use for them.
const (
	_ change.Field = iota // change.FieldObject
	FieldGeneration
	FieldTransID
	FieldSize
	FieldNBytes
	FieldBlockGroup
	FieldNLink
	FieldUID
	FieldGID
	FieldModeType
	FieldModePerm
	FieldRDev
	FieldFlags
	FieldNoDataSum
	FieldNoDataCow
	FieldReadOnly
	FieldNoCompress
	FieldPrealloc
	FieldSync
	FieldImmutable
	FieldAppend
	FieldCompress
	FieldSequence
	FieldATime
	FieldCTime
	FieldMTime
	FieldOTime
	FieldName
	FieldNameLen
	FieldDataLen
	FieldLocation
	FieldType
	FieldDiskBytenr
	FieldDiskNumBytes
	FieldExtentOffset
	FieldNumBytes
	FieldRAMBytes
	FieldCompression
	FieldRefs
	FieldFullBackref
	FieldReloc
	FieldRoot
	FieldObjectID
	FieldOffset
	FieldCount
	FieldParent
	FieldUsed
	FieldChunkObjectID
	FieldChunkTree
	FieldChunkOffset
	FieldLength
	FieldOwner
	FieldStripeLen
	FieldNumStripes
	FieldSubStripes
	FieldSectorSize
	FieldDevID
	FieldTotalBytes
	FieldBytesUsed
	FieldIOAlign
	FieldIOWidth
	FieldStartOffset
	FieldRootDirID
	FieldBytenr
	FieldByteLimit
	FieldLastSnapshot
	FieldDropProgress
	FieldDropLevel
	FieldLevel
	FieldDirID
	FieldNSums
	FieldExtentCount
	FieldFree
	FieldFirst
	FieldLast
	FieldNumEntries
	FieldNumBitmaps
	FieldVersion
	FieldRescan
	FieldReferenced
	FieldReferencedCompressed
	FieldExclusive
	FieldExclusiveCompressed
	FieldMaxReferenced
	FieldMaxExclusive
	FieldReservedReferenced
	FieldReservedExclusive
	FieldSectorsize
	FieldNodesize
	FieldCsumType
	FieldNumDevices
	FieldCacheGeneration
	FieldLogRoot
	FieldSuperDevTotal
	FieldSuperDevUsed
	FieldLogOf
	FieldChunk
	FieldBackref
	FieldLeaf
	FieldNoHoles
	FieldFreeSpaceValid
	FieldUUIDTreeGeneration
	FieldLink
	FieldUUID
	FieldReceivedUUID
	FieldCTransID
	FieldOTransID
	FieldRTransID
	FieldEndOffset
	FieldQuotaOn
	FieldQuotaRescan
	fieldQuotaInconsistent
	FieldEnd
)

// fieldNames holds the name of each field in rules. The term f(MEMBER, PART) names a part of a
// member: a group of its bits, or a member of the structure in it.
var fieldNames = [FieldEnd]string{
	change.FieldObject:        "object",
	FieldGeneration:           "generation",
	FieldTransID:              "transid",
	FieldSize:                 "size",
	FieldNBytes:               "nbytes",
	FieldBlockGroup:           "block_group",
	FieldNLink:                "nlink",
	FieldUID:                  "uid",
	FieldGID:                  "gid",
	FieldModeType:             "f(mode,s_ifmt)",
	FieldModePerm:             "f(mode,perm)",
	FieldRDev:                 "rdev",
	FieldFlags:                "flags",
	FieldNoDataSum:            "f(flags,nodatasum)",
	FieldNoDataCow:            "f(flags,nodatacow)",
	FieldReadOnly:             "f(flags,readonly)",
	FieldNoCompress:           "f(flags,nocompress)",
	FieldPrealloc:             "f(flags,prealloc)",
	FieldSync:                 "f(flags,sync)",
	FieldImmutable:            "f(flags,immutable)",
	FieldAppend:               "f(flags,append)",
	FieldCompress:             "f(flags,compress)",
	FieldSequence:             "sequence",
	FieldATime:                "atime",
	FieldCTime:                "ctime",
	FieldMTime:                "mtime",
	FieldOTime:                "otime",
	FieldName:                 "name",
	FieldNameLen:              "name_len",
	FieldDataLen:              "data_len",
	FieldLocation:             "location",
	FieldType:                 "type",
	FieldDiskBytenr:           "disk_bytenr",
	FieldDiskNumBytes:         "disk_num_bytes",
	FieldExtentOffset:         "extent_offset",
	FieldNumBytes:             "num_bytes",
	FieldRAMBytes:             "ram_bytes",
	FieldCompression:          "compression",
	FieldRefs:                 "refs",
	FieldFullBackref:          "f(flags,full_backref)",
	FieldReloc:                "f(flags,reloc)",
	FieldRoot:                 "root",
	FieldObjectID:             "objectid",
	FieldOffset:               "offset",
	FieldCount:                "count",
	FieldParent:               "parent",
	FieldUsed:                 "used",
	FieldChunkObjectID:        "chunk_objectid",
	FieldChunkTree:            "chunk_tree",
	FieldChunkOffset:          "chunk_offset",
	FieldLength:               "length",
	FieldOwner:                "owner",
	FieldStripeLen:            "stripe_len",
	FieldNumStripes:           "num_stripes",
	FieldSubStripes:           "sub_stripes",
	FieldSectorSize:           "sector_size",
	FieldDevID:                "devid",
	FieldTotalBytes:           "total_bytes",
	FieldBytesUsed:            "bytes_used",
	FieldIOAlign:              "io_align",
	FieldIOWidth:              "io_width",
	FieldStartOffset:          "start_offset",
	FieldRootDirID:            "root_dirid",
	FieldBytenr:               "bytenr",
	FieldByteLimit:            "byte_limit",
	FieldLastSnapshot:         "last_snapshot",
	FieldDropProgress:         "drop_progress",
	FieldDropLevel:            "drop_level",
	FieldLevel:                "level",
	FieldDirID:                "dirid",
	FieldNSums:                "nsums",
	FieldExtentCount:          "extent_count",
	FieldFree:                 "free",
	FieldFirst:                "first",
	FieldLast:                 "last",
	FieldNumEntries:           "num_entries",
	FieldNumBitmaps:           "num_bitmaps",
	FieldVersion:              "version",
	FieldRescan:               "rescan",
	FieldReferenced:           "rfer",
	FieldReferencedCompressed: "rfer_cmpr",
	FieldExclusive:            "excl",
	FieldExclusiveCompressed:  "excl_cmpr",
	FieldMaxReferenced:        "max_rfer",
	FieldMaxExclusive:         "max_excl",
	FieldReservedReferenced:   "rsv_rfer",
	FieldReservedExclusive:    "rsv_excl",
	FieldSectorsize:           "sectorsize",
	FieldNodesize:             "nodesize",
	FieldCsumType:             "csum_type",
	FieldNumDevices:           "num_devices",
	FieldCacheGeneration:      "cache_generation",
	FieldLogRoot:              "log_root",
	FieldSuperDevTotal:        "f(dev_item,total_bytes)",
	FieldSuperDevUsed:         "f(dev_item,bytes_used)",
	FieldLogOf:                "log_of",
	FieldChunk:                "chunk",
	FieldBackref:              "backref",
	FieldLeaf:                 "leaf",
	FieldNoHoles:              "f(incompat_flags,no_holes)",
	FieldFreeSpaceValid:       "f(compat_ro_flags,free_space_tree_valid)",
	FieldUUIDTreeGeneration:   "uuid_tree_generation",
	FieldLink:                 "link",
	FieldUUID:                 "uuid",
	FieldReceivedUUID:         "received_uuid",
	FieldCTransID:             "ctransid",
	FieldOTransID:             "otransid",
	FieldRTransID:             "rtransid",
	FieldEndOffset:            "end",
	FieldQuotaOn:              "f(flags,on)",
	FieldQuotaRescan:          "f(flags,rescan)",
	fieldQuotaInconsistent:    "f(flags,inconsistent)",
}
