package btrfs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fsward/change"
)

// An alterSpec says what to change, as NewAlterer describes.
type alterSpec struct {
	kind   change.Kind
	delete bool
	member member
	op     byte // '=', '+', '-'
	value  uint64
	where  []condition
}

// A member is a number in an item or in its key.
type member struct {
	name       string
	inKey      bool
	off, width int // inKey: off is that in btrfs_disk_key
}

// A condition selects items.
type condition struct {
	tree  bool // the value is that of the tree, not of a member
	m     member
	value uint64
}

func parseAlterSpec(spec string) (alterSpec, error) {
	var s alterSpec
	what, where, _ := strings.Cut(spec, "@")
	name, rest := what, ""
	if i := strings.IndexAny(what, ".!"); i >= 0 {
		name, rest = what[:i], what[i:]
	}
	for k := kindFreeSpaceHeader; k < kindSuperBlock; k++ {
		if itemTypes[k].name == name {
			s.kind = k
		}
	}
	if s.kind == 0 {
		return s, fmt.Errorf("btrfs: no item %q in %q: there are %s", name, spec, strings.Join(alterKinds(), ", "))
	}
	if rest == "!delete" {
		s.delete = true
	} else {
		i := strings.IndexAny(rest, "=+-")
		if i < 1 {
			return s, fmt.Errorf("btrfs: %q is not of the form ITEM.FIELD=N, ITEM.FIELD+N, ITEM.FIELD-N or ITEM!delete; %s has the fields %s",
				spec, name, strings.Join(memberNames(s.kind), ", "))
		}
		var err error
		if s.member, err = findMember(s.kind, rest[1:i]); err != nil {
			return s, err
		}
		s.op = rest[i]
		if s.value, err = parseNumber(rest[i+1:]); err != nil {
			return s, fmt.Errorf("btrfs: in %q: %w", spec, err)
		}
	}
	if where == "" {
		return s, nil
	}
	for _, part := range strings.Split(where, ",") {
		field, number, _ := strings.Cut(part, "=")
		c := condition{}
		var err error
		switch field {
		case "tree":
			c.tree = true
		case "objectid", "offset":
			c.m, err = findMember(s.kind, "key."+field)
		default:
			c.m, err = findMember(s.kind, field)
		}
		if err != nil {
			return s, err
		}
		if c.value, err = parseNumber(number); err != nil {
			return s, fmt.Errorf("btrfs: in %q: %w", spec, err)
		}
		s.where = append(s.where, c)
	}
	return s, nil
}

// parseNumber reads decimal, 0x and 0o; a negative number stands for the same 64 bits.
func parseNumber(s string) (uint64, error) {
	if n, err := strconv.ParseUint(s, 0, 64); err == nil {
		return n, nil
	}
	n, err := strconv.ParseInt(s, 0, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number", s)
	}
	return uint64(n), nil
}

// members lists what can be changed in an item of a kind: the members of the structure at its start, of
// keys in it their parts, the first byte of the name behind it, and the item's own key.
func members(kind change.Kind) []member {
	var list []member
	t := &itemTypes[kind]
	key := func(prefix string, inKey bool, at int) {
		list = append(list, member{prefix + ".objectid", inKey, at, 8}, member{prefix + ".type", inKey, at + 8, 1},
			member{prefix + ".offset", inKey, at + 9, 8})
	}
	if t.layout != nil {
		for _, f := range t.layout.fields {
			if f.width == keySize {
				key(f.member, false, f.off)
			} else {
				list = append(list, member{f.member, false, f.off, f.width})
			}
		}
		if slices.Contains(t.extra, fieldName) {
			list = append(list, member{"name", false, t.layout.size, 1})
		}
	}
	key("key", true, 0)
	return list
}

func findMember(kind change.Kind, name string) (member, error) {
	for _, m := range members(kind) {
		if m.name == name {
			return m, nil
		}
	}
	return member{}, fmt.Errorf("btrfs: %s has no field %q: there are %s", itemTypes[kind].name, name, strings.Join(memberNames(kind), ", "))
}

func memberNames(kind change.Kind) []string {
	var names []string
	for _, m := range members(kind) {
		names = append(names, m.name)
	}
	return names
}

func alterKinds() []string {
	var names []string
	for k := kindFreeSpaceHeader; k < kindSuperBlock; k++ {
		names = append(names, itemTypes[k].name)
	}
	return names
}
