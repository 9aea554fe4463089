package ondisk

import "fsward/change"

// sharesKey reports whether several objects of a kind can have the same key.
func sharesKey(k change.Kind) bool {
	switch k {
	case KindXattrItem, KindDirItem, KindExtentDataRef, KindUUIDSubvol, KindUUIDReceived:
		return true
	}
	return false
}

// SuperObject is the superblock.
var SuperObject = change.Object{Kind: KindSuperBlock}

// KindByType maps a key type to its kind. An unknown type has kind 0.
var KindByType = func() (m [256]change.Kind) {
	for k := KindFreeSpaceHeader; k < KindSuperBlock; k++ {
		m[ItemTypes[k].Type] = k
	}
	return m
}()

// itemTypeOf returns the declaration of a key type, or nil if the type is unknown.
func itemTypeOf(typ uint8) *ItemType {
	if k := KindByType[typ]; k != 0 {
		return &ItemTypes[k]
	}
	return nil
}

// Schema declares the objects and fields in the change records of Btrfs.
var Schema = func() *change.Schema {
	s := &change.Schema{
		FS:     FSName,
		Kinds:  make([]change.KindInfo, KindCount),
		Fields: fieldNames[:],
		Words:  words[:],
	}
	for k := KindFreeSpaceHeader; k < KindCount; k++ {
		t := &ItemTypes[k]
		unique := t.Shape == change.ShapeKey && !sharesKey(k)
		info := change.KindInfo{Name: t.Name, Shape: t.Shape, Unique: unique, Doc: t.Doc,
			Group: groups[k].ofID, KeyGroup: groups[k].ofKey}
		if k == KindInodeRef || k == KindInodeExtref {
			info.ByName = FieldName
		}
		if t.Layout != nil {
			for _, f := range t.Layout.Fields {
				if f.Field != 0 {
					info.Fields = append(info.Fields, f.Field)
				}
				for _, p := range f.Parts {
					info.Fields = append(info.Fields, p.Field)
				}
			}
		}
		info.Fields = append(info.Fields, t.Extra...)
		info.Values = valuesOf(t, info.Fields)
		s.Kinds[k] = info
	}
	return s
}()
