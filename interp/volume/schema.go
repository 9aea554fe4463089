package volume

import "fsward/change"

// Kinds of objects.
const (
	kindDisk change.Kind = iota + 1
	kindTable
	kindPartition
	kindVolume
	kindVG
	kindPV
	kindArea
)

// Fields of objects.
const (
	fieldSize change.Field = iota + 1
	fieldKind
	fieldCopies
	fieldLanded
	fieldStart
	fieldEnd
	fieldFirstUsable
	fieldEndUsable
	fieldNextStart
	fieldType
	fieldName
	fieldFS
	fieldFSSize
	fieldInUse
	fieldKept
	fieldReadable
	fieldSeqno
	fieldExtentSize
	fieldVG
	fieldDataStart
	fieldDataEnd
)

// Words.
const (
	wordGPT change.WordID = iota + 1
	wordMBR
	wordAgree
	wordDiffer
	wordDamaged
	wordDisk
	wordPartition
	wordLV
)

// Schema returns the names of the numbers in the records of tables.
func Schema() *change.Schema { return schema }

// describe adds descriptions of the values of fields to each kind.
func describe(s *change.Schema) *change.Schema {
	words := map[change.Kind]map[change.Field][]change.WordID{
		kindTable:  {fieldKind: {wordGPT, wordMBR}, fieldCopies: {wordAgree, wordDiffer, wordDamaged}},
		kindVolume: {fieldKind: {wordDisk, wordPartition, wordLV}},
	}
	for k := range s.Kinds {
		info := &s.Kinds[k]
		info.Values = make(map[change.Field]change.FieldInfo)
		for _, f := range info.Fields {
			v := change.FieldInfo{Unit: units[f]}
			for _, id := range words[change.Kind(k)][f] {
				v.Type, v.Words = change.TypeWord, append(v.Words, s.Words[id])
			}
			if f == fieldName || f == fieldFS || f == fieldVG {
				v.Type = change.TypeName
			}
			info.Values[f] = v
		}
	}
	return s
}

// units has the units of fields.
var units = map[change.Field]string{fieldSize: "bytes", fieldStart: "bytes", fieldEnd: "bytes",
	fieldFirstUsable: "bytes", fieldEndUsable: "bytes", fieldNextStart: "bytes", fieldFSSize: "bytes",
	fieldKept: "bytes", fieldExtentSize: "bytes", fieldDataStart: "bytes", fieldDataEnd: "bytes",
	fieldLanded: "0 or 1", fieldInUse: "0 or 1", fieldReadable: "0 or 1"}

var schema = describe(&change.Schema{
	FS:         "volume",
	KindIsTree: true,
	Kinds: []change.KindInfo{
		{},
		{Name: "disk", Shape: change.ShapeNum, Doc: "A disk: N, the number of the disk.",
			Fields: []change.Field{fieldSize}},
		{Name: "table", Shape: change.ShapeNum,
			Doc: "The partition table of a disk: N, the number of the disk. copies says whether the two " +
				"copies of a GPT agree; landed is 1 if both were written since they last agreed.",
			Fields: []change.Field{fieldKind, fieldCopies, fieldLanded}},
		{Name: "partition", Shape: change.ShapeNums,
			Doc: "An entry of a partition table: a(DISK, NUMBER). start and end are bytes of the disk; " +
				"first_usable and end_usable are the bounds that the table sets; next_start is the start of " +
				"the next partition behind, in the disk or in the extended partition.",
			Fields: []change.Field{fieldStart, fieldEnd, fieldFirstUsable, fieldEndUsable, fieldNextStart,
				fieldType}},
		{Name: "volume", Shape: change.ShapeNamed,
			Doc: "What can hold a file system: a(DISK, 'p2'), a(0, 'vg/lv'), a(DISK, '') for a whole " +
				"disk. A volume that is renamed has its old name as identifier. kept is the number of bytes " +
				"from its start that have the place they had before; fs_size is the size that the file " +
				"system claims.",
			Fields: []change.Field{fieldName, fieldKind, fieldSize, fieldReadable, fieldFS, fieldFSSize,
				fieldInUse, fieldKept}},
		{Name: "vg", Shape: change.ShapeNamed, Doc: "A VG of LVM: a(0, 'name').",
			Fields: []change.Field{fieldSeqno, fieldExtentSize}},
		{Name: "pv", Shape: change.ShapeNamed,
			Doc: "A PV of a VG: a(DISK, 'id'). start and end are the bytes of its device on the disk, " +
				"data_start and data_end those of its extents.",
			Fields: []change.Field{fieldVG, fieldStart, fieldEnd, fieldDataStart, fieldDataEnd}},
		{Name: "area", Shape: change.ShapeNums,
			Doc: "A run of extents of a logical volume on a PV: a(DISK, START), in bytes of the disk. " +
				"next_start is the start of the next area behind it, data_end the end of the PV's extents.",
			Fields: []change.Field{fieldEnd, fieldNextStart, fieldDataStart, fieldDataEnd, fieldName}},
	},
	Fields: []string{"object", "size", "kind", "copies", "landed", "start", "end", "first_usable",
		"end_usable", "next_start", "type", "name", "fs", "fs_size", "in_use", "kept", "readable",
		"seqno", "extent_size", "vg", "data_start", "data_end"},
	Words: []string{"present", "gpt", "mbr", "agree", "differ", "damaged", "whole_disk", "partition",
		"lv"},
})
