package corrupt

import (
	"fmt"
	"slices"
	"strings"

	"fsward/change"
	"fsward/interp/btrfs/ondisk"
	"fsward/interp/corruptspec"
)

// An alterSpec is a parsed specification: a change and its place. SpecHelp describes the grammar.
type alterSpec struct {
	object *alterable
	action action // 0: alter member
	member member
	op     byte // '=', '+', '-', '^'
	value  uint64
	where  []condition
}

// A condition selects places.
type condition struct {
	tree, level bool // compare value with the tree or the level of the block, not with a member
	m           member
	value       uint64
}

// SpecHelp describes the grammar of alterations for users.
const SpecHelp = `OBJECT.FIELD=N  OBJECT.FIELD+N  OBJECT.FIELD-N  OBJECT.FIELD^N  OBJECT!ACTION

OBJECT is a kind of item (inode_item), or header (of a metadata block), key_ptr (a pointer in a
node) or super_block. FIELD is a member of its structure (nlink, location.objectid). For an item
it can also be a part of its key (key.offset) or of its header in the leaf (item.offset,
item.size). N is decimal, 0x or 0o. A negative N stands for the same 64 bits. Bits that do not
fit into the field are cut off. ^ flips the bits of N. A change of a key keeps the order of keys
in the leaf.

Conditions may follow, separated by commas: OBJECT.FIELD=N@tree=5,objectid=256. A condition names
the tree or the level of the block, the objectid or the offset of the key, or a field. If none
names the tree, items that belong to files are taken from file trees.`

// parseAlterSpec parses a specification. The error lists the known objects or fields.
func parseAlterSpec(spec string) (alterSpec, error) {
	parsed, parseErr := corruptspec.Parse(spec)
	s := alterSpec{object: findAlterable(parsed.Object), op: parsed.Op, value: parsed.Value}
	if s.object == nil {
		return s, fmt.Errorf("btrfs: no object %q in %q: there are %s", parsed.Object, spec,
			strings.Join(alterableNames(), ", "))
	}
	if err := s.resolveChange(spec, parsed); err != nil {
		return s, err
	}
	if parseErr != nil {
		return s, fmt.Errorf("btrfs: in %q: %w", spec, parseErr)
	}
	for _, where := range parsed.Where {
		c, err := s.resolveCondition(where)
		if err != nil {
			return s, fmt.Errorf("btrfs: in %q: %w", spec, err)
		}
		s.where = append(s.where, c)
	}
	return s, nil
}

// resolveChange finds the field or the action that a specification names.
func (s *alterSpec) resolveChange(spec string, parsed corruptspec.Spec) (err error) {
	for _, a := range s.object.actions() {
		if actionNames[a] == parsed.Action {
			s.action = a
			return nil
		}
	}
	if parsed.Field == "" {
		return fmt.Errorf("btrfs: %q is not of the form OBJECT.FIELD=N (or +N, -N, ^N) or "+
			"OBJECT!ACTION; %s has the fields %s and the actions %s", spec, s.object.name,
			strings.Join(s.object.fieldNames(), ", "), strings.Join(s.object.actionNames(), ", "))
	}
	s.member, err = s.object.find(parsed.Field)
	return err
}

// resolveCondition finds the field that a condition names.
func (s *alterSpec) resolveCondition(where corruptspec.Condition) (c condition, err error) {
	switch where.Name {
	case "tree":
		c.tree = true
	case "level":
		c.level = true
	case "objectid", "offset":
		c.m, err = s.object.find("key." + where.Name)
	default:
		c.m, err = s.object.find(where.Name)
	}
	if err == nil {
		c.value, err = where.Number()
	}
	return c, err
}

// slots returns the number of slots in a block that may hold the object.
func (s *alterSpec) slots(n *ondisk.Node) int {
	switch {
	case s.object.form == formHeader:
		return 1
	case s.object.form == formPointer && n.Level() > 0, s.object.form == formItem && n.Level() == 0:
		return n.NrItems()
	default:
		return 0
	}
}

// fits reports whether the object in a slot of a block matches the specification.
func (s *alterSpec) fits(n *ondisk.Node, slot int) bool {
	inTree := true
	if s.object.form == formItem {
		t := &ondisk.ItemTypes[s.object.kind]
		if n.Key(slot).Type != t.Type || ondisk.ClassOf(n.Owner())&t.Trees == 0 {
			return false
		}
		inTree = t.Trees&ondisk.InFile == 0 || ondisk.IsFileTree(n.Owner())
	}
	for _, c := range s.where {
		switch {
		case c.tree:
			if n.Owner() != c.value {
				return false
			}
			inTree = true
		case c.level:
			if uint64(n.Level()) != c.value {
				return false
			}
		default:
			if b, ok := s.object.bytes(n, slot, c.m); !ok || number(b) != c.value {
				return false
			}
		}
	}
	return inTree
}

// inLog reports whether the specification is about the log, which the condition @tree=-6 selects.
func (s *alterSpec) inLog() bool {
	return slices.ContainsFunc(s.where, func(c condition) bool {
		return c.tree && c.value == ondisk.TreeLogID
	})
}

// alter makes the change in a slot of a block. text describes the change. ok is false if the change
// is impossible there or has no effect. The caller must recompute the checksum of the block.
func (s *alterSpec) alter(n *ondisk.Node, slot int) (text string, ok bool) {
	if s.action != 0 {
		return s.act(n, slot)
	}
	first := s.object.form == formItem && slot == 0 && n.NrItems() > 1
	b, ok := s.object.bytes(n, slot, s.member)
	if !ok || s.member.isKey() && first {
		return "", false
	}
	old := append([]byte(nil), b...)
	text, ok = s.set(b)
	if ok && s.object.form == formItem && s.member.isKey() && !inOrder(n, slot) {
		copy(b, old)
		return "", false
	}
	return text, ok
}

// set alters the bytes of a member. ok is false if the number stays the same.
func (s *alterSpec) set(b []byte) (text string, ok bool) {
	old := number(b)
	now := corruptspec.Apply(s.op, old, s.value)
	for i := range b {
		b[i] = byte(now >> (8 * i))
	}
	now = number(b)
	return fmt.Sprintf("%s %d → %d", s.member.name, old, now), now != old
}

// number reads a little-endian number of up to 8 bytes.
func number(b []byte) uint64 {
	n := uint64(0)
	for i := range b {
		n |= uint64(b[i]) << (8 * i)
	}
	return n
}

// inOrder reports whether the key of an item lies between the keys of its neighbors.
func inOrder(n *ondisk.Node, i int) bool {
	return (i == 0 || n.Key(i-1).Compare(n.Key(i)) < 0) &&
		(i+1 == n.NrItems() || n.Key(i).Compare(n.Key(i+1)) < 0)
}

// place names a slot of a block for users.
func (s *alterSpec) place(n *ondisk.Node, slot int) string {
	tree := change.NumText(n.Owner())
	switch s.object.form {
	case formHeader:
		return fmt.Sprintf("header of block %d of tree %s, level %d", n.Logical(), tree, n.Level())
	case formPointer:
		return fmt.Sprintf("pointer %d of block %d of tree %s, level %d",
			slot, n.Logical(), tree, n.Level())
	default:
		return fmt.Sprintf("%s of tree %s", n.Key(slot).String(), tree)
	}
}
