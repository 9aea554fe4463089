package ondisk

import "fsward/change"

// sharesKey reports whether objects of a kind can have a key in common.
func sharesKey(k change.Kind) bool {
	switch k {
	case KindXattrItem, KindDirItem, KindExtentDataRef, KindUUIDSubvol, KindUUIDReceived:
		return true
	}
	return false
}

// SuperObject is the superblock.
var SuperObject = change.Object{Kind: KindSuperBlock}

// KindByType maps a key type to its kind; 0 for types that are not known.
var KindByType = func() (m [256]change.Kind) {
	for k := KindFreeSpaceHeader; k < KindSuperBlock; k++ {
		m[ItemTypes[k].Type] = k
	}
	return m
}()

// itemTypeOf returns the declaration of a key type, or nil.
func itemTypeOf(typ uint8) *ItemType {
	if k := KindByType[typ]; k != 0 {
		return &ItemTypes[k]
	}
	return nil
}

// Schema declares the objects and fields in the records of Btrfs.
var Schema = func() *change.Schema {
	s := &change.Schema{FS: FSName, Kinds: make([]change.KindInfo, KindCount), Fields: fieldNames[:], Words: words[:]}
	for k := KindFreeSpaceHeader; k < KindCount; k++ {
		t := &ItemTypes[k]
		info := change.KindInfo{Name: t.Name, Shape: t.Shape, Unique: t.Shape == change.ShapeKey && !sharesKey(k), Doc: t.Doc}
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
		s.Kinds[k] = info
	}
	return s
}()
