package ext3

// A plan holds what a comparison found to differ. It takes a small part of the memory of the change
// records, which can be made again from it: see commitStream.
type plan struct {
	todo         worklist
	blocks       blockRuns     // of which pieces are still to be made
	pieces       []blockRun    // in the order of their blocks
	xattrChanges []xattrChange // in the order of inodes
	entries      changedEntries
}

const (
	// the memory of an element and of its place in a planIndex, bytes
	pieceBytes = 24
	shareBytes = 12 + 16
	entryBytes = 16 + 4
)

// bytes returns the memory of the plan.
func (p *plan) bytes() uint64 {
	return p.todo.bytes() + p.blocks.bytes() + uint64(cap(p.pieces))*pieceBytes +
		uint64(cap(p.xattrChanges))*shareBytes + uint64(cap(p.entries.list))*entryBytes
}

// A worklist holds the objects that an earlier step found to differ and that a later step compares.
type worklist struct {
	inodes numberSet
	named  numberSet // inodes that are named by directory entries that changed
	groups numberSet // groups that get records
	xattrs numberSet // extended attribute blocks
	owned  numberSet // inodes whose pointers changed
}

func (w *worklist) bytes() (n uint64) {
	for _, s := range []*numberSet{&w.inodes, &w.named, &w.groups, &w.xattrs, &w.owned} {
		n += s.bytes()
	}
	return n
}

// changedEntries holds the places of the directory entries that changed, directory by directory,
// in the order of their records.
type changedEntries struct {
	dirs []changedDir // in the order of their numbers
	list []changedEntry
}

// A changedDir is a directory of which entries changed, from an index of the list on.
type changedDir struct{ ino, from uint32 }

// A changedEntry is the place of an entry before and after a transaction; block 0: there is none.
type changedEntry struct {
	hash            uint32 // of its name: see nameTable.short
	wasBlock, block uint32
	wasOff, off     uint16
}

// add adds an entry of a directory.
func (c *changedEntries) add(dir uint32, n *nameDiff) {
	if k := len(c.dirs); k == 0 || c.dirs[k-1].ino != dir {
		c.dirs = append(c.dirs, changedDir{dir, uint32(len(c.list))})
	}
	c.list = append(c.list, changedEntry{hash: short(n.hash), wasBlock: n.was.block,
		wasOff: n.was.off, block: n.is.block, off: n.is.off})
}

// of returns the range of the list with the entries of the directory at an index of dirs.
func (c *changedEntries) of(k int) (from, to uint32) {
	to = uint32(len(c.list))
	if k+1 < len(c.dirs) {
		to = c.dirs[k+1].from
	}
	return c.dirs[k].from, to
}
