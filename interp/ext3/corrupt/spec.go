package corrupt

import (
	"fmt"
	"slices"
	"strings"

	"fsward/interp/corruptspec"
	"fsward/interp/ext3/ondisk"
)

// An alterSpec is a parsed alteration: see SpecHelp.
type alterSpec struct {
	object *alterable
	action string // "": change member
	member ondisk.Field
	op     byte // '=', '+', '-', '^'
	value  uint64
	kind   string // of the object; "": any
	id     uint64 // of the object; 0: any
}

// SpecHelp describes the grammar of alterations.
const SpecHelp = `OBJECT.FIELD=N  OBJECT.FIELD+N  OBJECT.FIELD-N  OBJECT.FIELD^N  OBJECT!ACTION

OBJECT is a structure on the disk: superblock, group, inode, pointer (in an indirect block),
dirent, index (a root or node of a directory's index), xattr_block, journal_superblock and
others. FIELD is a member of it. N is decimal, 0x or 0o. A negative N stands for the same bits.
Bits that do not fit into the field are cut off. ^ flips the bits of N.

Conditions may follow, separated by commas: OBJECT.FIELD=N@kind=directory,id=12. The id of an
inode or a group is its number. The id of a dirent is the number of its directory, and the id of
a pointer that of its file.`

// parseAlterSpec parses a specification. The error lists the known objects, or what the object has.
func parseAlterSpec(spec string) (s alterSpec, err error) {
	bad := func(why string) (alterSpec, error) {
		return s, fmt.Errorf("ext3: %s in %q; want OBJECT.FIELD and one of =N +N -N ^N, or "+
			"OBJECT!ACTION; %s has the fields %s and the actions %s", why, spec, s.object.name,
			strings.Join(s.object.fieldNames(), ", "), strings.Join(s.object.actions, ", "))
	}
	parsed, parseErr := corruptspec.Parse(spec)
	if s.object = findAlterable(parsed.Object); s.object == nil {
		return s, fmt.Errorf("ext3: no object %q in %q: there are %s", parsed.Object, spec,
			strings.Join(objectNames(), ", "))
	}
	s.op, s.value, s.action = parsed.Op, parsed.Value, parsed.Action
	if s.action != "" && !slices.Contains(s.object.actions, s.action) {
		return bad("no such action")
	}
	if parsed.Field != "" {
		named := func(m ondisk.Field) bool { return m.Name == parsed.Field }
		j := slices.IndexFunc(s.object.members, named)
		if j < 0 {
			return bad("no such field")
		}
		s.member = s.object.members[j]
	}
	if parseErr != nil {
		return bad(parseErr.Error())
	}
	if s.action == "" && parsed.Field == "" {
		return bad("no field and no action")
	}
	for _, where := range parsed.Where {
		switch {
		case where.Name == "kind" && slices.Contains(s.object.kinds, where.Value):
			s.kind = where.Value
		case where.Name == "id":
			if s.id, err = where.Number(); err != nil {
				return bad(err.Error())
			}
		default:
			return s, fmt.Errorf("ext3: condition %s=%s in %q; want id=N or kind= and one of %s", where.Name,
				where.Value, spec, strings.Join(s.object.kinds, ", "))
		}
	}
	return s, nil
}

// fits reports whether the specification covers a target.
func (s *alterSpec) fits(t target) bool {
	return t.object == s.object && (s.kind == "" || t.kind == s.kind) && (s.id == 0 || t.id == s.id)
}

// set changes the member of an object and describes the change. ok is false if the object does not
// have the member or nothing changes.
func (s *alterSpec) set(b []byte) (text string, ok bool) {
	if s.member.Off+s.member.Width() > len(b) {
		return "", false
	}
	old := s.member.Get(b)
	now := corruptspec.Apply(s.op, old, s.value)
	s.member.Put(b, now)
	now = s.member.Get(b)
	return fmt.Sprintf("%s %d → %d", s.member.Name, old, now), now != old
}
