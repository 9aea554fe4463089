package ondisk

import (
	"slices"

	"fsward/change"
)

// The units of numbers that do not stand for themselves.
const (
	unitBlock   = "number of a block"
	unitBlocks  = "blocks"
	unitInode   = "number of an inode"
	unitInodes  = "inodes"
	unitSeconds = "seconds since 1970"
	unitBit     = "0 or 1"
)

// units has the units of fields, whatever the kind of object.
var units = map[change.Field]string{
	FieldBlocksCount: unitBlocks, fieldRBlocksCount: unitBlocks, FieldFreeBlocks: unitBlocks,
	fieldBlocksPerGroup: unitBlocks, fieldReservedGDT: unitBlocks, FieldLength: unitBlocks,
	FieldInodesCount: unitInodes, FieldFreeInodes: unitInodes, fieldInodesPerGroup: unitInodes,
	fieldUnusedInodes: unitInodes, fieldFirstData: unitBlock, fieldBlockBitmap: unitBlock,
	fieldInodeBitmap: unitBlock, fieldInodeTable: unitBlock, FieldFileACL: unitBlock,
	fieldFirstIno: unitInode, fieldJournalInum: unitInode, fieldUserQuota: unitInode,
	fieldGroupQuota: unitInode, fieldProjectQuota: unitInode, FieldInode: unitInode,
	fieldLastOrphan: unitInode + "; 0 for none", fieldInodeSize: "bytes", FieldSize: "bytes",
	fieldDescSize: "bytes", fieldMinExtraSize: "bytes", fieldWantExtraSize: "bytes",
	fieldLogBlockSize: "the block size is 1024 << log_block_size", FieldUsedDirs: "directories",
	FieldGroup: "number of a group", FieldInodeGroup: "number of a group",
	FieldDirGroup: "number of a group", FieldBlocks: "sectors of 512 bytes",
	FieldPerm: "permission bits of stat(2), set-user-id included", FieldUID: "id of a user",
	FieldGID: "id of a group of users", FieldLinks: "names", FieldRefcount: "inodes",
	FieldEnd: unitBlocks, FieldAtime: unitSeconds, FieldCtime: unitSeconds, FieldMtime: unitSeconds,
	fieldWriteTime:     unitSeconds,
	FieldDtime:         unitSeconds + ", or the number of the next orphan",
	FieldFlagImmutable: unitBit, FieldFlagAppend: unitBit, FieldFlagIndex: unitBit,
	FieldFlagJournal: unitBit, fieldRecover: unitBit, FieldFlagOther: "bits",
	fieldFeatureCompat: "bits", fieldFeatureIncompat: "bits", fieldFeatureROCompat: "bits",
	fieldState: "bits", fieldGroupFlags: "bits", fieldHashFlags: "bits",
}

// describe adds descriptions of the values of fields to each kind. queryOnly has the fields that no
// change record has.
func describe(s *change.Schema, queryOnly map[change.Kind][]change.Field) *change.Schema {
	for k := range s.Kinds {
		info := &s.Kinds[k]
		info.Values = make(map[change.Field]change.FieldInfo)
		for _, f := range info.Fields {
			v := change.FieldInfo{Unit: units[f],
				QueryOnly: slices.Contains(queryOnly[change.Kind(k)], f)}
			if f == FieldType || f == FieldFileType {
				v = change.FieldInfo{Type: change.TypeWord, Words: s.Words[wordType:]}
			}
			info.Values[f] = v
		}
	}
	return s
}
