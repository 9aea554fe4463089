package ext3

import (
	"fmt"

	"fsward/interp"
)

// A role is what a block of no fixed place is used for as metadata.
type role struct {
	ino   uint32 // whose; of a shared extended attribute block, one of them
	level uint8  // roleDir, 1 to 3 for an indirect block, roleXattr
	start uint32 // number of the first block of the file below it
}

const (
	roleDir   = 0
	roleXattr = 0xff
)

// roles knows every directory block, indirect block and extended attribute block. A block that the
// journal holds and that has no role is file data, and is not interpreted. The map takes about 40
// bytes for each such block: one block in a thousand of a file system full of large files.
type roles map[uint32]role

// roleBytes is what an entry takes.
const roleBytes = 48

// maxRoles is how many roles a limit on memory leaves, a quarter of which they may take; 0: any number.
func maxRoles(limits interp.Limits) int { return int(limits.Memory / 4 / roleBytes) }

// check tells, as an error, whether there would be too many with n more.
func (r roles) check(n, most int) error {
	if most > 0 && len(r)+n > most {
		return &interp.UnsupportedError{FS: schema.FS, Feature: fmt.Sprintf("a file system of more than %d blocks of directories and indirect blocks in the memory that it may have", most)}
	}
	return nil
}

// readRoles reads them from a state: all inodes in use, and the indirect blocks. What does not make
// sense is passed over: it was there before.
func (l *layout) readRoles(s *state, most int) (roles, error) {
	r := make(roles)
	visited := &visits{}
	for g := range l.geo.groups {
		marks, err := s.block(l.places[g].inodeBitmap)
		if err != nil {
			return nil, err
		}
		for n := range l.geo.inodesPerGroup {
			if !bit(marks, n) {
				continue
			}
			ino := g*l.geo.inodesPerGroup + n + 1
			i, err := l.inode(s, ino)
			if err != nil {
				return nil, err
			}
			if acl := i.fileACL(); i.exists(true) && acl != 0 && l.geo.inRange(acl) {
				r[acl] = role{ino, roleXattr, 0}
			}
			if !i.maps(true) && ino != badIno || !i.isDir() && i.pointer(12)|i.pointer(13)|i.pointer(14) == 0 {
				continue
			}
			if err := r.check(0, most); err != nil {
				return nil, err
			}
			if err := l.addRoles(r, s, ino, i, visited); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}

func (l *layout) addRoles(r roles, s *state, ino uint32, i inode, visited *visits) error {
	d := treeDiff{layout: l, new: s, visited: visited}
	d.added = func(level int, start uint64, block uint32) (bool, error) {
		if !l.geo.inRange(block) {
			return false, nil
		}
		if level > 0 || i.isDir() {
			r[block] = role{ino, uint8(level), uint32(start)}
		}
		// The blocks below a pointer of level 1 matter for a directory alone.
		return level > 0 && (level > 1 || i.isDir()) && visited.new.add(block), nil
	}
	return d.inodes(nil, i)
}
