package ext3

import (
	"iter"
	"slices"

	"fsward/change"
	"fsward/interp/ext3/ondisk"
)

// compared is a pair of states that are compared, which blocks differ between them, and where the findings go. The parts of
// a comparison (groupDiff, inodeDiff, dirDiff, imageDiff) share it.
type compared struct {
	*Layout          // after
	was      *Layout // before; another than Layout where the file system grew
	old, new Snapshot
	roles    Roles
	orphans  orphanChange
	// image, if not nil, is what is kept of a whole file system: old has nothing, and every block counts as rewritten.
	image *imageDiff
	// leap: several commits lie between the states, so that what has become metadata need not be among what is rewritten.
	leap      bool
	rewritten map[uint32]bool // and revoked
	order     []uint32        // the same, in order
	device    uint64          // size, bytes

	*records
	todo worklist
}

// A worklist holds the objects that a comparison has found to differ and that a later step compares.
type worklist struct {
	inodes numberSet
	named  numberSet // inodes that entries name which changed
	groups numberSet // with records
	bodies numberSet // inodes that changed beyond their first 128 bytes, or came into use
	xattrs numberSet // extended attribute blocks
	owned  numberSet // inodes whose pointers changed
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
		for i, _ := slices.BinarySearch(d.order, first); i < len(d.order) && d.order[i] < first+n && yield(d.order[i]); i++ {
		}
	}
}

// fresh reports whether a group was not there before.
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

// owner makes the records of a pointer that comes to name a block.
func (d *compared) owner(o change.Object) error {
	d.txn.Add(o)
	if d.image != nil {
		return d.image.claim(uint32(o.ID))
	}
	d.todo.owned.add(uint32(o.Sub))
	return nil
}

// isOrphan reports whether an inode is on the list after the transaction.
func (d *compared) isOrphan(ino uint32) bool {
	if d.image != nil {
		return d.image.onList.contains(ino) // both halves of the rules ask
	}
	return d.orphans.has(ino)
}

// A side is an inode in one of the two states; zero where the file system did not exist.
type side struct {
	inode  ondisk.Inode
	marked bool
}

func (s side) exists() bool { return s.inode != nil && s.inode.Exists(s.marked) }

// mapped returns the inode if its pointers are pointers, else nil. Those of the inode of bad blocks are, though it
// has neither a type nor links.
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
