package ext3

import (
	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

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

// maxRoleBytes returns the maximum memory of roles, a quarter of that of the disk. 0 means no
// maximum.
func maxRoleBytes(limits interp.Limits) uint64 { return limits.Memory / 4 }

// readRoles reads the roles from a state: it goes through all inodes in use and their indirect
// blocks. It skips faults, since they were there before.
func (s Snapshot) readRoles(most uint64) (*Roles, error) {
	r := NewRoles()
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
				r.set(acl, Role{ino, RoleXattr, 0})
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

func (s Snapshot) addRoles(r *Roles, ino uint32, i ondisk.Inode, visited *Visits) error {
	return s.Walk(i, visited, func(level int, start uint64, block uint32) (bool, error) {
		if !s.Geo.InRange(block) {
			return false, nil
		}
		if level > 0 || i.IsDir() {
			r.set(block, Role{ino, uint8(level), uint32(start)})
		}
		// The blocks below a pointer of level 1 matter for a directory alone.
		return level > 0 && (level > 1 || i.IsDir()) && visited.Enter(block), nil
	})
}
