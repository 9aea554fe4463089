package corrupt

import (
	"fmt"
	"strings"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
	"fsward/interp/disk"
)

// A form is the kind of place of an object.
type form uint8

const (
	formItem    form = iota + 1 // an item in a leaf
	formHeader                  // the header of a metadata block
	formPointer                 // a pointer in a node above the leaves
	formSuper                   // the superblock
)

// An alterable is a kind of object that can be altered.
type alterable struct {
	name   string
	form   form
	kind   change.Kind // of an item
	fields []member
}

// A member is a number of up to eight bytes in an object. It stands for the first eight bytes of a
// UUID.
type member struct {
	name       string
	inHead     bool // in the struct btrfs_item of an item, or in a pointer; both begin with the key
	off, width int
	// from returns the offset of the member's structure in the data of an item, and whether the item
	// has that structure; nil: the structure is at the start of the data.
	from func(data disk.Region) (int, bool)
}

// isKey reports whether a member is part of the key of an item or pointer.
func (m member) isKey() bool { return m.inHead && m.isKeyPart() }

// isKeyPart reports whether a member of an item header or pointer is part of its key.
func (m member) isKeyPart() bool { return m.off < ondisk.DiskKeySize }

// alterables lists every kind of object. Items are in the order of their kinds.
var alterables = func() []alterable {
	header := withoutChecksum(members(ondisk.HeaderLayout.Unrecorded))
	list := []alterable{
		{name: "super_block", form: formSuper, fields: superMembers()},
		{name: "header", form: formHeader, fields: header},
		{name: "key_ptr", form: formPointer, fields: inHead(members(ondisk.KeyPtrLayout.Unrecorded))},
	}
	for k := ondisk.KindFreeSpaceHeader; k < ondisk.KindSuperBlock; k++ {
		list = append(list, alterable{
			name: ondisk.ItemTypes[k].Name, form: formItem, kind: k, fields: itemMembers(k),
		})
	}
	return list
}()

// findAlterable returns the kind of object with a name, or nil.
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

// Alterables lists the objects that a specification can name, with their fields and actions.
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

// find returns the member with a name. The error lists the known names.
func (a *alterable) find(name string) (member, error) {
	for _, m := range a.fields {
		if m.name == name {
			return m, nil
		}
	}
	return member{}, fmt.Errorf("btrfs: %s has no field %q: there are %s",
		a.name, name, strings.Join(a.fieldNames(), ", "))
}

func (a *alterable) fieldNames() []string {
	var names []string
	for _, m := range a.fields {
		names = append(names, m.name)
	}
	return names
}

// bytes returns the bytes of a member of the object in a slot of a block. ok is false if the object
// does not have the member.
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
