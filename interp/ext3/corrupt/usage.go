package corrupt

import (
	"bytes"

	"fsward/interp/ext3"
	"fsward/interp/ext3/ondisk"
)

// usage holds the use of each block of a state.
type usage struct {
	*ext3.Layout
	// uses of the blocks with a role, and of those of the journal and of the resize inode
	owners map[uint32]string
	marks  [][]byte // the block bitmaps, by group
}

// readUsage reads the uses of the blocks of a state.
func readUsage(s ext3.Snapshot, r *ext3.Roles) (*usage, error) {
	u := &usage{Layout: s.Layout, owners: make(map[uint32]string)}
	for block, role := range r.All() {
		switch role.Level {
		case ext3.RoleXattr:
			u.owners[block] = "xattr"
		case ext3.RoleDir:
			u.owners[block] = "directory"
		default:
			u.owners[block] = "indirect"
		}
	}
	if err := u.take(s, s.Geo.JournalInum, "journal"); err != nil {
		return nil, err
	}
	if err := u.take(s, ondisk.ResizeIno, "resize"); err != nil {
		return nil, err
	}
	for _, p := range s.Places {
		b, err := s.Block(p.BlockBitmap)
		if err != nil {
			return nil, err
		}
		u.marks = append(u.marks, bytes.Clone(b))
	}
	return u, nil
}

// take gives a use to all blocks of an inode, if there is one.
func (u *usage) take(s ext3.Snapshot, ino uint32, use string) error {
	if ino == 0 {
		return nil
	}
	i, err := s.Inode(ino)
	if err != nil || !i.Maps(true) {
		return err
	}
	visited := &ext3.Visits{}
	return s.Walk(i, visited, func(level int, _ uint64, block uint32) (bool, error) {
		u.owners[block] = use
		return level > 0 && u.Geo.InRange(block) && visited.Enter(block), nil
	})
}

// of returns the use of a block, one of blockUses.
func (u *usage) of(block uint32) string {
	g := u.Geo.GroupOf(block)
	at, p := block-u.Geo.GroupStart(g), u.Places[g]
	switch {
	case block == p.BlockBitmap || block == p.InodeBitmap:
		return "bitmap"
	case block-p.InodeTable < u.Geo.TableBlocks:
		return "inode_table"
	case u.FixedMeta(block) && at == 0 && u.Geo.HasSuper(g):
		return "superblock"
	case u.FixedMeta(block):
		return "descriptors"
	case u.owners[block] != "":
		return u.owners[block]
	case ondisk.Bit(u.marks[g], at):
		return "data"
	}
	return "free"
}
