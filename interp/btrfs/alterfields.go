package btrfs

import (
	"fmt"
	"slices"
	"strings"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
	"fsward/interp/disk"
)

// A form is how an object stands in a block.
type form uint8

const (
	formItem    form = iota + 1 // in a leaf
	formHeader                  // of every block
	formPointer                 // in a node above the leaves
	formSuper
)

// An alterable is an object that can be altered.
type alterable struct {
	name   string
	form   form
	kind   change.Kind // of an item
	fields []member
}

// A member is a number in an object. Of a uuid it is the first eight bytes.
type member struct {
	name       string
	inHead     bool // of an item: in its struct btrfs_item, which begins with the key
	off, width int
	// from returns where the member's structure begins in the data of an item that holds several; nil: at
	// its start.
	from func(data disk.Region) (int, bool)
}

// isKey tells whether a member is part of the key of an item or pointer.
func (m member) isKey() bool { return m.inHead && m.off < ondisk.DiskKeySize }

// alterables lists every object, items in the order of their kinds.
var alterables = func() []alterable {
	list := []alterable{
		{name: "super_block", form: formSuper, fields: superMembers()},
		{name: "header", form: formHeader, fields: headerMembers},
		{name: "key_ptr", form: formPointer, fields: append(keyMembers("key", true, 0),
			member{name: "blockptr", inHead: true, off: 17, width: 8}, member{name: "generation", inHead: true, off: 25, width: 8})},
	}
	for k := ondisk.KindFreeSpaceHeader; k < ondisk.KindSuperBlock; k++ {
		list = append(list, alterable{name: ondisk.ItemTypes[k].Name, form: formItem, kind: k, fields: itemMembers(k)})
	}
	return list
}()

func findAlterable(name string) *alterable {
	for i := range alterables {
		if alterables[i].name == name {
			return &alterables[i]
		}
	}
	return nil
}

func alterableNames() []string {
	var names []string
	for _, a := range alterables {
		names = append(names, a.name)
	}
	return names
}

// Alterables lists what alterations can speak of.
func Alterables() []interp.Alterable {
	var list []interp.Alterable
	for i := range alterables {
		a := &alterables[i]
		out := interp.Alterable{Object: a.name, Actions: a.actionNames()}
		for _, m := range a.fields {
			out.Fields = append(out.Fields, interp.AlterableField{Name: m.name, Width: m.width})
		}
		list = append(list, out)
	}
	return list
}

func (a *alterable) find(name string) (member, error) {
	for _, m := range a.fields {
		if m.name == name {
			return m, nil
		}
	}
	return member{}, fmt.Errorf("btrfs: %s has no field %q: there are %s", a.name, name, strings.Join(a.fieldNames(), ", "))
}

func (a *alterable) fieldNames() []string {
	var names []string
	for _, m := range a.fields {
		names = append(names, m.name)
	}
	return names
}

// bytes returns the bytes of a member at a place in a block; ok is false if the object there has none.
func (a *alterable) bytes(n *ondisk.Node, slot int, m member) ([]byte, bool) {
	var from disk.Region
	var err error
	switch {
	case a.form == formHeader:
		from = n.Region()
	case a.form == formPointer:
		from, err = n.Region().Sub(ondisk.HeaderSize+uint64(slot)*ondisk.KeyPtrSize, ondisk.KeyPtrSize)
	case m.inHead:
		from, err = n.Region().Sub(ondisk.HeaderSize+uint64(slot)*ondisk.ItemSize, ondisk.ItemSize)
	default:
		from = n.Item(slot)
	}
	if err != nil {
		return nil, false
	}
	off := m.off
	if m.from != nil {
		start, ok := m.from(from)
		if !ok {
			return nil, false
		}
		off += start
	}
	r, err := from.Sub(uint64(off), uint64(m.width))
	return r.Bytes(), err == nil
}

func keyMembers(prefix string, inHead bool, off int) []member {
	return []member{
		{name: prefix + ".objectid", inHead: inHead, off: off, width: 8},
		{name: prefix + ".type", inHead: inHead, off: off + 8, width: 1},
		{name: prefix + ".offset", inHead: inHead, off: off + 9, width: 8},
	}
}

// layoutMembers turns the fields of a layout into members, a key into its parts.
func layoutMembers(s *ondisk.Structure) []member {
	var list []member
	for _, f := range s.Fields {
		if f.Width == ondisk.DiskKeySize {
			list = append(list, keyMembers(f.Name, false, f.Off)...)
		} else {
			list = append(list, member{name: f.Name, off: f.Off, width: min(f.Width, 8)})
		}
	}
	return list
}

// itemMembers lists what can be changed in an item of a kind: the members of its structure, the first
// byte of its name, what change records leave out, its key, and its place in the leaf.
func itemMembers(kind change.Kind) []member {
	var list []member
	t := &ondisk.ItemTypes[kind]
	if t.Layout != nil {
		list = layoutMembers(t.Layout)
		if slices.Contains(t.Extra, ondisk.FieldName) {
			list = append(list, member{name: "name", off: t.Layout.Size, width: 1})
		}
	}
	for _, m := range unrecorded[kind] {
		if !slices.ContainsFunc(list, func(l member) bool { return l.name == m.name }) {
			list = append(list, m)
		}
	}
	list = append(list, keyMembers("key", true, 0)...)
	return append(list, member{name: "item.offset", inHead: true, off: 17, width: 4}, member{name: "item.size", inHead: true, off: 21, width: 4})
}

// unrecorded has the members that layouts leave out, since no change record has them.
var unrecorded = map[change.Kind][]member{
	ondisk.KindRootItem: append(prefixed("inode", layoutMembers(&ondisk.InodeItemLayout)),
		member{name: "generation_v2", off: 239, width: 8}, member{name: "parent_uuid", off: 263, width: 8}, member{name: "stransid", off: 311, width: 8}),
	ondisk.KindDevItem: {{name: "dev_group", off: 60, width: 4}, {name: "seek_speed", off: 64, width: 1}, {name: "bandwidth", off: 65, width: 1},
		{name: "uuid", off: 66, width: 8}, {name: "fsid", off: 82, width: 8}},
	ondisk.KindChunkItem: {{name: "stripe.dev_uuid", off: 64, width: 8}, {name: "stripe1.devid", off: 80, width: 8}, {name: "stripe1.offset", off: 88, width: 8},
		{name: "stripe1.dev_uuid", off: 96, width: 8}},
	ondisk.KindDevExtent:       {{name: "chunk_tree_uuid", off: 32, width: 8}},
	ondisk.KindExtentData:      {{name: "encryption", off: 17, width: 1}, {name: "other_encoding", off: 18, width: 2}},
	ondisk.KindExtentCsum:      {{name: "sum", off: 0, width: 4}},
	ondisk.KindFreeSpaceBitmap: {{name: "bits", off: 0, width: 1}},
	ondisk.KindUUIDSubvol:      {{name: "subvol", off: 0, width: 8}},
	ondisk.KindUUIDReceived:    {{name: "subvol", off: 0, width: 8}},
	ondisk.KindPersistentItem:  {{name: "value", off: 0, width: 8}},
	ondisk.KindTemporaryItem:   {{name: "value", off: 0, width: 8}},
	ondisk.KindVerityDesc:      {{name: "offset", off: 0, width: 8}},
	ondisk.KindVerityMerkle:    {{name: "bytes", off: 0, width: 8}},
	ondisk.KindExtentItem:      inlineMembers,
	ondisk.KindMetadataItem:    inlineMembers,
}

func prefixed(prefix string, list []member) []member {
	for i := range list {
		list[i].name = prefix + "." + list[i].name
	}
	return list
}

// inlineMembers are of the first back reference of each type inside an extent item.
var inlineMembers = []member{
	{name: "ref.type", off: 0, width: 1, from: inlineRef(0)},
	{name: "tree_block_ref.root", off: 1, width: 8, from: inlineRef(ondisk.TreeBlockRefKey)},
	{name: "shared_block_ref.parent", off: 1, width: 8, from: inlineRef(ondisk.SharedBlockRefKey)},
	{name: "extent_data_ref.root", off: 1, width: 8, from: inlineRef(ondisk.ExtentDataRefKey)},
	{name: "extent_data_ref.objectid", off: 9, width: 8, from: inlineRef(ondisk.ExtentDataRefKey)},
	{name: "extent_data_ref.offset", off: 17, width: 8, from: inlineRef(ondisk.ExtentDataRefKey)},
	{name: "extent_data_ref.count", off: 25, width: 4, from: inlineRef(ondisk.ExtentDataRefKey)},
	{name: "shared_data_ref.parent", off: 1, width: 8, from: inlineRef(ondisk.SharedDataRefKey)},
	{name: "shared_data_ref.count", off: 9, width: 4, from: inlineRef(ondisk.SharedDataRefKey)},
}

// inlineRef returns what finds the first inline reference of a type, 0 for any. It passes over the
// btrfs_tree_block_info of an extent_item that is a tree block: the first byte behind that is a type.
func inlineRef(typ uint8) func(disk.Region) (int, bool) {
	size := map[uint8]int{ondisk.TreeBlockRefKey: 9, ondisk.SharedBlockRefKey: 9, ondisk.ExtentDataRefKey: 29, ondisk.SharedDataRefKey: 13}
	return func(data disk.Region) (int, bool) {
		off := ondisk.ExtentItemSize
		if off < data.Len() && size[data.U8(off)] == 0 {
			off += ondisk.DiskKeySize + 1
		}
		for off < data.Len() {
			t := data.U8(off)
			if typ == 0 || t == typ {
				return off, true
			}
			if size[t] == 0 {
				return 0, false
			}
			off += size[t]
		}
		return 0, false
	}
}

// headerMembers are of struct btrfs_header.
var headerMembers = []member{
	{name: "fsid", off: 32, width: 8}, {name: "bytenr", off: 48, width: 8}, {name: "flags", off: 56, width: 7},
	{name: "backref_rev", off: 63, width: 1}, {name: "chunk_tree_uuid", off: 64, width: 8}, {name: "generation", off: 80, width: 8},
	{name: "owner", off: 88, width: 8}, {name: "nritems", off: 96, width: 4}, {name: "level", off: 100, width: 1},
}

// superMembers are of struct btrfs_super_block, with the first chunk of its array and its first backup.
func superMembers() []member {
	list := []member{
		{name: "fsid", off: 32, width: 8}, {name: "bytenr", off: 48, width: 8}, {name: "flags", off: 56, width: 8},
		{name: "magic", off: 64, width: 8}, {name: "generation", off: 72, width: 8}, {name: "root", off: 80, width: 8},
		{name: "chunk_root", off: 88, width: 8}, {name: "log_root", off: 96, width: 8}, {name: "log_root_transid", off: 104, width: 8},
		{name: "total_bytes", off: 112, width: 8}, {name: "bytes_used", off: 120, width: 8}, {name: "root_dir_objectid", off: 128, width: 8},
		{name: "num_devices", off: 136, width: 8}, {name: "sectorsize", off: 144, width: 4}, {name: "nodesize", off: 148, width: 4},
		{name: "leafsize", off: 152, width: 4}, {name: "stripesize", off: 156, width: 4}, {name: "sys_chunk_array_size", off: 160, width: 4},
		{name: "chunk_root_generation", off: 164, width: 8}, {name: "compat_flags", off: 172, width: 8}, {name: "compat_ro_flags", off: 180, width: 8},
		{name: "incompat_flags", off: 188, width: 8}, {name: "csum_type", off: 196, width: 2}, {name: "root_level", off: 198, width: 1},
		{name: "chunk_root_level", off: 199, width: 1}, {name: "log_root_level", off: 200, width: 1},
		{name: "label", off: 299, width: 1}, {name: "cache_generation", off: 555, width: 8}, {name: "uuid_tree_generation", off: 563, width: 8},
		{name: "metadata_uuid", off: 571, width: 8},
	}
	at := func(prefix string, base int, members []member) {
		for _, m := range prefixed(prefix, members) {
			m.off += base
			list = append(list, m)
		}
	}
	const devItem, sysArray, backup = 201, 811, 2859
	at("dev_item", devItem, append(layoutMembers(&ondisk.DevItemLayout), unrecorded[ondisk.KindDevItem]...))
	at("sys_chunk", sysArray, keyMembers("key", false, 0))
	at("sys_chunk", sysArray+ondisk.DiskKeySize, append(layoutMembers(&ondisk.ChunkLayout), unrecorded[ondisk.KindChunkItem]...))
	at("backup", backup, []member{{name: "tree_root", off: 0, width: 8}, {name: "tree_root_gen", off: 8, width: 8}, {name: "chunk_root", off: 16, width: 8},
		{name: "extent_root", off: 32, width: 8}, {name: "fs_root", off: 48, width: 8}, {name: "num_devices", off: 112, width: 8}, {name: "tree_root_level", off: 152, width: 1}})
	return list
}
