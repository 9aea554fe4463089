package ext3

import (
	"fmt"
	"slices"

	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

// MetadataBlocks lists all blocks that fsward interprets.
func (m *Mounted) MetadataBlocks() []uint32 {
	l := m.Layout
	list := []uint32{l.Geo.SuperBlock()}
	for i := range l.Geo.DescBlocks {
		list = append(list, l.Geo.DescBlock(i))
	}
	for _, p := range l.Places {
		list = append(list, p.BlockBitmap, p.InodeBitmap)
		for k := range l.Geo.TableBlocks {
			list = append(list, p.InodeTable+k)
		}
	}
	for block := range m.Roles {
		list = append(list, block)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// A Role is the use of a metadata block without a fixed place.
type Role struct {
	Ino   uint32 // owner; of a shared extended attribute block, one of the owners
	Level uint8  // RoleDir, 1 to 3 for an indirect block, RoleXattr
	Start uint32 // number of the first block of the file below it
}

const (
	RoleDir   = 0
	RoleXattr = 0xff
)

// Roles holds every directory block, indirect block and extended attribute block. A journaled block
// without a role is file data, and is not interpreted. The map takes about 40 bytes for each block
// in it; in a file system full of large files that is one block in a thousand.
type Roles map[uint32]Role

// roleBytes is the memory that an entry takes, bytes.
const roleBytes = 48

// maxRoles returns the maximum number of roles, which may take a quarter of the memory. 0 means no
// maximum.
func maxRoles(limits interp.Limits) int { return int(limits.Memory / 4 / roleBytes) }

// check returns an error if n more roles would be too many.
func (r Roles) check(n, most int) error {
	if most > 0 && len(r)+n > most {
		return &interp.UnsupportedError{FS: schema.FS,
			Feature: fmt.Sprintf("more than %d directory blocks and indirect blocks"+
				" within its limit of memory", most)}
	}
	return nil
}

// readRoles reads the roles from a state: it goes through all inodes in use and their indirect
// blocks. It skips faults, since they were there before.
func (s Snapshot) readRoles(most int) (Roles, error) {
	r := make(Roles)
	visited := &Visits{}
	for g := range s.Geo.Groups {
		marks, err := s.Block(s.Places[g].InodeBitmap)
		if err != nil {
			return nil, err
		}
		for n := range s.Geo.InodesPerGroup {
			if !ondisk.Bit(marks, n) {
				continue
			}
			ino := g*s.Geo.InodesPerGroup + n + 1
			i, err := s.Inode(ino)
			if err != nil {
				return nil, err
			}
			if acl := i.FileACL(); i.Exists(true) && acl != 0 && s.Geo.InRange(acl) {
				r[acl] = Role{ino, RoleXattr, 0}
			}
			if !i.Maps(true) && ino != ondisk.BadIno || !i.IsDir() &&
				i.Pointer(12)|i.Pointer(13)|i.Pointer(14) == 0 {
				continue
			}
			if err := r.check(0, most); err != nil {
				return nil, err
			}
			if err := s.addRoles(r, ino, i, visited); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}

func (s Snapshot) addRoles(r Roles, ino uint32, i ondisk.Inode, visited *Visits) error {
	return s.Walk(i, visited, func(level int, start uint64, block uint32) (bool, error) {
		if !s.Geo.InRange(block) {
			return false, nil
		}
		if level > 0 || i.IsDir() {
			r[block] = Role{ino, uint8(level), uint32(start)}
		}
		// The blocks below a pointer of level 1 matter for a directory alone.
		return level > 0 && (level > 1 || i.IsDir()) && visited.Enter(block), nil
	})
}
