package ondisk

import "fsward/change"

// The units of numbers that do not stand for themselves.
const (
	unitBytes   = "bytes"
	unitAddress = "logical address, bytes"
	unitCommit  = "number of a transaction"
	unitSeconds = "seconds since 1970"
	unitBit     = "0 or 1"
	unitBits    = "bits"
)

// units has the units of fields, whatever the kind of object.
var units = map[change.Field]string{
	FieldGeneration: unitCommit, FieldTransID: unitCommit, FieldLastSnapshot: unitCommit,
	FieldCTransID: unitCommit, FieldOTransID: unitCommit, FieldRTransID: unitCommit,
	FieldCacheGeneration: unitCommit, FieldUUIDTreeGeneration: unitCommit,
	FieldSize: unitBytes, FieldNBytes: unitBytes, FieldDiskNumBytes: unitBytes,
	FieldExtentOffset: unitBytes, FieldNumBytes: unitBytes, FieldRAMBytes: unitBytes,
	FieldUsed: unitBytes, FieldLength: unitBytes, FieldStripeLen: unitBytes,
	FieldSectorSize: unitBytes, FieldTotalBytes: unitBytes, FieldBytesUsed: unitBytes,
	FieldByteLimit: unitBytes, FieldSectorsize: unitBytes, FieldNodesize: unitBytes,
	FieldReferenced: unitBytes, FieldReferencedCompressed: unitBytes, FieldExclusive: unitBytes,
	FieldExclusiveCompressed: unitBytes, FieldMaxReferenced: unitBytes, FieldMaxExclusive: unitBytes,
	FieldReservedReferenced: unitBytes, FieldReservedExclusive: unitBytes, FieldNameLen: unitBytes,
	FieldDataLen: unitBytes, FieldStartOffset: unitBytes, FieldSuperDevTotal: unitBytes,
	FieldSuperDevUsed: unitBytes, FieldFree: unitBytes, FieldIOAlign: unitBytes,
	FieldIOWidth: unitBytes, FieldDiskBytenr: unitAddress + "; 0 for a hole",
	FieldBytenr: unitAddress, FieldChunkOffset: unitAddress, FieldLogRoot: unitAddress,
	FieldChunk: "number of a chunk: " + unitAddress, FieldLeaf: unitAddress,
	FieldATime: unitSeconds, FieldCTime: unitSeconds, FieldMTime: unitSeconds,
	FieldOTime: unitSeconds, FieldUID: "id of a user", FieldGID: "id of a group of users",
	FieldNLink: "names", FieldModePerm: "permission bits of stat(2), set-user-id included",
	FieldFlags: unitBits, FieldNoDataSum: unitBit, FieldNoDataCow: unitBit, FieldReadOnly: unitBit,
	FieldNoCompress: unitBit, FieldPrealloc: unitBit, FieldSync: unitBit, FieldImmutable: unitBit,
	FieldAppend: unitBit, FieldCompress: unitBit, FieldFullBackref: unitBit, FieldReloc: unitBit,
	FieldNoHoles: unitBit, FieldFreeSpaceValid: unitBit, FieldQuotaOn: unitBit,
	FieldQuotaRescan: unitBit, fieldQuotaInconsistent: unitBit, FieldNSums: "checksums",
	FieldCompression: "0 none, 1 zlib, 2 lzo, 3 zstd", FieldLogOf: "number of a subvolume",
	FieldRoot: "number of a tree", FieldOwner: "number of a tree", FieldRefs: "references",
	FieldCount: "references", FieldRDev: "number of a device", FieldDevID: "number of a device",
}

// names and keys are the fields whose values are names and keys.
var (
	names = map[change.Field]bool{FieldName: true}
	keys  = map[change.Field]bool{FieldBackref: true, FieldLocation: true, FieldDropProgress: true,
		FieldUUID: true, FieldReceivedUUID: true}
)

// valuesOf describes the values of the fields of a kind.
func valuesOf(t *ItemType, fields []change.Field) map[change.Field]change.FieldInfo {
	values := make(map[change.Field]change.FieldInfo)
	for _, f := range fields {
		info := change.FieldInfo{Unit: units[f]}
		switch {
		case names[f]:
			info.Type = change.TypeName
		case keys[f]:
			info.Type = change.TypeKey
		}
		values[f] = info
	}
	note := func(f change.Field, ids []change.WordID, viewOnly bool) {
		info := values[f]
		info.QueryOnly = viewOnly
		for _, id := range ids {
			if id != WordNone {
				info.Type, info.Unit = change.TypeWord, ""
				info.Words = append(info.Words, words[id])
			}
		}
		values[f] = info
	}
	if t.Layout != nil {
		for _, m := range t.Layout.Fields {
			if m.Field != 0 {
				note(m.Field, m.Words, m.ViewOnly)
			}
			for _, p := range m.Parts {
				note(p.Field, p.Words, p.ViewOnly)
			}
		}
	}
	return values
}
