package ext3

import (
	"iter"
	"slices"

	"fsward/interp/ext3/ondisk"
)

// compared holds the two states of a comparison, the set of blocks that differ, and the findings.
// The parts of a comparison (groupDiff, inodeDiff, dirDiff, imageDiff) share it.
type compared struct {
	*Layout          // after
	was      *Layout // before; another than Layout where the file system grew
	old, new Snapshot
	roles    *Roles
	orphans  orphanChange
	// image is set if the whole file system is new: old is empty, and every block counts as rewritten.
	image *imageDiff
	// leap is set if several commits lie between the states. A block that becomes metadata may then be
	// missing in rewritten.
	leap      bool
	rewritten map[uint32]bool // the blocks that the transaction rewrote or revoked
	order     []uint32        // the same, in order
	device    uint64          // size, bytes

	*records
	*plan
}

// rewrote reports whether the transaction rewrote a block.
func (d *compared) rewrote(block uint32) bool { return d.image != nil || d.rewritten[block] }

// rewrittenIn returns those of n blocks from first on that were rewritten.
func (d *compared) rewrittenIn(first, n uint32) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		if d.image != nil {
			for b := first; b < first+n && yield(b); b++ {
			}
			return
		}
		for i, _ := slices.BinarySearch(d.order, first); i < len(d.order) && d.order[i] < first+n &&
			yield(d.order[i]); i++ {
		}
	}
}

// fresh reports whether a group is new.
func (d *compared) fresh(g uint32) bool { return d.image != nil || g >= d.was.Geo.Groups }

// sides returns an inode in both states.
func (d *compared) sides(ino uint32) (before, after side, err error) {
	if d.image == nil && ino <= d.was.Geo.Inodes {
		if before.inode, err = d.old.Inode(ino); err != nil {
			return
		}
		if before.marked, err = d.old.marked(ino); err != nil {
			return
		}
	}
	if after.inode, err = d.new.Inode(ino); err != nil {
		return
	}
	after.marked, err = d.new.marked(ino)
	return
}

// isOrphan reports whether an inode is on the list after the transaction.
func (d *compared) isOrphan(ino uint32) bool {
	if d.image != nil {
		return d.image.onList.contains(ino) // two goroutines ask at once
	}
	return d.orphans.has(ino)
}

// A side is an inode in one of the two states. The zero value means that the file system did not
// exist.
type side struct {
	inode  ondisk.Inode
	marked bool
}

func (s side) exists() bool { return s.inode != nil && s.inode.Exists(s.marked) }

// mapped returns the inode if its block pointers have a meaning, else nil. The inode of bad blocks
// has pointers although it has neither a type nor links.
func (s side) mapped(ino uint32) ondisk.Inode {
	if s.inode == nil || !s.inode.Maps(s.marked) && (ino != ondisk.BadIno || !s.marked) {
		return nil
	}
	return s.inode
}

func (s side) acl() uint32 {
	if !s.exists() {
		return 0
	}
	return s.inode.FileACL()
}
