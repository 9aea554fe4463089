package corrupt

import (
	"cmp"
	"slices"
	"strings"

	"fsward/change"
	"fsward/interp/btrfs/ondisk"
	"fsward/interp/disk"
)

// members returns the alterable numbers in members of a structure: each part of a key, and the
// first eight bytes of a UUID.
func members(of []ondisk.Member) []member {
	var list []member
	for _, m := range of {
		if m.Width == ondisk.DiskKeySize {
			list = append(list, keyMembers(m.Name, m.Off)...)
		} else {
			list = append(list, member{name: m.Name, off: m.Off, width: min(m.Width, 8)})
		}
	}
	return list
}

// keyMembers returns the parts of the key at an offset.
func keyMembers(name string, off int) []member {
	return prefixed(name, moved(off, members(ondisk.DiskKeyLayout.Unrecorded)))
}

// prefixed puts the name of a structure before the names of its members.
func prefixed(name string, list []member) []member {
	for i := range list {
		list[i].name = name + "." + list[i].name
	}
	return list
}

// moved adds the offset of a structure in another one.
func moved(by int, list []member) []member {
	for i := range list {
		list[i].off += by
	}
	return list
}

// inHead marks members of an item header or of a pointer.
func inHead(list []member) []member {
	for i := range list {
		list[i].inHead = true
	}
	return list
}

// withoutChecksum removes the checksum of a block, which is recomputed after each alteration.
func withoutChecksum(list []member) []member {
	return slices.DeleteFunc(list, func(m member) bool { return m.name == "csum" })
}

// itemMembers lists the alterable numbers in an item of a kind: the members of its structure, the
// first byte of its name, the members that change records omit, its key, and its place in the leaf.
func itemMembers(kind change.Kind) []member {
	var list []member
	t := &ondisk.ItemTypes[kind]
	if t.Layout != nil {
		list = members(t.Layout.Fields)
		if slices.Contains(t.Extra, ondisk.FieldName) {
			list = append(list, member{name: "name", off: t.Layout.Size, width: 1})
		}
		if kind == ondisk.KindRootItem { // it begins with an inode_item
			list = append(list, prefixed("inode", members(ondisk.InodeItemLayout.Fields))...)
		}
		list = append(list, members(t.Layout.Unrecorded)...)
	}
	list = append(list, furtherMembers[kind]...)
	head := members(ondisk.ItemLayout.Unrecorded)
	for i := range head {
		if !head[i].isKeyPart() {
			head[i].name = "item." + head[i].name
		}
	}
	return append(list, inHead(head)...)
}

// furtherMembers has the numbers behind the structure of an item, and the first bytes of items
// without a structure.
var furtherMembers = map[change.Kind][]member{
	ondisk.KindChunkItem: append(
		[]member{{name: "stripe.dev_uuid", off: firstStripe + ondisk.StripeDevUUIDAt, width: 8}},
		prefixed("stripe1", moved(ondisk.ChunkSize, members(ondisk.StripeLayout.Unrecorded)))...),
	ondisk.KindExtentCsum:      {{name: "sum", width: 4}},
	ondisk.KindFreeSpaceBitmap: {{name: "bits", width: 1}},
	ondisk.KindUUIDSubvol:      {{name: "subvol", width: 8}},
	ondisk.KindUUIDReceived:    {{name: "subvol", width: 8}},
	ondisk.KindPersistentItem:  {{name: "value", width: 8}},
	ondisk.KindTemporaryItem:   {{name: "value", width: 8}},
	ondisk.KindVerityDesc:      {{name: "offset", width: 8}},
	ondisk.KindVerityMerkle:    {{name: "bytes", width: 8}},
	ondisk.KindExtentItem:      inlineMembers,
	ondisk.KindMetadataItem:    inlineMembers,
}

// firstStripe is the offset of the first stripe in a chunk_item.
const firstStripe = ondisk.ChunkSize - ondisk.StripeSize

// inlineMembers are the members of the first back reference of each type inside an extent item. The
// structure of a reference from a file begins behind the type, other structures behind the address.
var inlineMembers = slices.Concat(
	[]member{{name: "ref.type", off: ondisk.ExtentInlineRefTypeAt, width: 1, from: inlineRef(0)}},
	inlineHead("tree_block_ref.root", ondisk.TreeBlockRefKey),
	inlineHead("shared_block_ref.parent", ondisk.SharedBlockRefKey),
	inlineBody("extent_data_ref", ondisk.ExtentDataRefKey, ondisk.ExtentInlineRefOffsetAt,
		&ondisk.ExtentDataRefLayout),
	inlineHead("shared_data_ref.parent", ondisk.SharedDataRefKey),
	inlineBody("shared_data_ref", ondisk.SharedDataRefKey, ondisk.ExtentInlineRefSize,
		&ondisk.SharedDataRefLayout),
)

// inlineHead returns the address behind the type of a back reference.
func inlineHead(name string, typ uint8) []member {
	return []member{{name: name, off: ondisk.ExtentInlineRefOffsetAt, width: 8, from: inlineRef(typ)}}
}

// inlineBody returns the members of the structure of a back reference, which begins at an offset.
func inlineBody(name string, typ uint8, off int, s *ondisk.Structure) []member {
	list := prefixed(name, moved(off, members(s.Fields)))
	for i := range list {
		list[i].from = inlineRef(typ)
	}
	return list
}

// inlineRef returns a function that finds the first inline reference of a type, or of any type if
// typ is 0. The function skips the btrfs_tree_block_info of a tree block. It recognizes that
// structure by its first byte, which is no type of a reference.
func inlineRef(typ uint8) func(disk.Region) (int, bool) {
	return func(data disk.Region) (int, bool) {
		off := ondisk.ExtentItemSize
		if off < data.Len() && inlineRefSize(data.U8(off)) == 0 {
			off += ondisk.TreeBlockInfoSize
		}
		for off < data.Len() {
			t := data.U8(off)
			if typ == 0 || t == typ {
				return off, true
			}
			size := inlineRefSize(t)
			if size == 0 {
				return 0, false
			}
			off += size
		}
		return 0, false
	}
}

// inlineRefSize returns the size of an inline reference, including its type, or 0 if there is no
// such type.
func inlineRefSize(typ uint8) int {
	switch typ {
	case ondisk.TreeBlockRefKey, ondisk.SharedBlockRefKey:
		return ondisk.ExtentInlineRefSize
	case ondisk.ExtentDataRefKey:
		return ondisk.ExtentInlineRefOffsetAt + ondisk.ExtentDataRefSize
	case ondisk.SharedDataRefKey:
		return ondisk.ExtentInlineRefSize + ondisk.SharedDataRefSize
	}
	return 0
}

// superMembers returns the members of struct btrfs_super_block, of its dev_item, of the first chunk
// in its array, and of its first backup.
func superMembers() []member {
	var own []ondisk.Member
	for _, m := range slices.Concat(ondisk.SuperLayout.Fields, ondisk.SuperLayout.Unrecorded) {
		if m.Width <= 8 || m.Width == ondisk.UUIDSize { // wider members are structures: see below
			own = append(own, m)
		}
	}
	own = slices.DeleteFunc(own, func(m ondisk.Member) bool {
		return strings.HasPrefix(m.Name, "dev_item.")
	})
	list := append(members(own), member{name: "label", off: ondisk.SuperLabelAt, width: 1})
	slices.SortFunc(list, func(a, b member) int { return cmp.Compare(a.off, b.off) })
	at := func(name string, off int, of []member) {
		list = append(list, prefixed(name, moved(off, of))...)
	}
	device := slices.Concat(ondisk.DevItemLayout.Fields, ondisk.DevItemLayout.Unrecorded)
	at("dev_item", ondisk.SuperDevItemAt, members(device))
	at("sys_chunk", ondisk.SuperSysChunkArrayAt, keyMembers("key", 0))
	at("sys_chunk", ondisk.SuperSysChunkArrayAt+ondisk.DiskKeySize,
		slices.Concat(members(ondisk.ChunkLayout.Fields), furtherMembers[ondisk.KindChunkItem]))
	at("backup", ondisk.SuperSuperRootsAt, members(ondisk.RootBackupLayout.Unrecorded))
	return list
}
