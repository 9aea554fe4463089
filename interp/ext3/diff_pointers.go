package ext3

import (
	"math"

	"fsward/interp/ext3/ondisk"
)

// A pointerDiff compares the pointers of one inode, makes the records of those that differ, and
// gathers the blocks of a directory whose entries are to be compared.
type pointerDiff struct {
	*inodeDiff
	ino                  uint32
	was, is              ondisk.Inode // nil: maps nothing
	oldBlocks, newBlocks []dirBlock
}

func (d *pointerDiff) wasDir() bool { return d.was != nil && d.was.IsDir() }
func (d *pointerDiff) isDir() bool  { return d.is != nil && d.is.IsDir() }

// shown returns the range of blocks that have to be compared although their pointers stay: all
// blocks if the inode became a directory or stopped being one, and those that the directory's new
// size shows or hides.
func (d *pointerDiff) shown() (r blockRange) {
	if d.wasDir() != d.isDir() {
		return blockRange{0, math.MaxUint64}
	}
	if d.wasDir() {
		was, is := d.was.DirBlocks(d.Geo.BlockSize), d.is.DirBlocks(d.Geo.BlockSize)
		r = blockRange{min(was, is), max(was, is)}
	}
	return r
}

func (d *pointerDiff) compare() error {
	tree := treeDiff{geo: d.Geo, old: d.old.State, new: d.new.State, rewrote: d.rewrote,
		visited: d.visited, shown: d.shown(),
		removed: d.removed, added: d.added, same: d.same}
	if err := tree.inodes(d.was, d.is); err != nil {
		return err
	}
	if d.was != nil && d.is != nil {
		if err := tree.rewritten(d.indirect[d.ino]); err != nil {
			return err
		}
	}
	d.addRewritten()
	return nil
}

func (d *pointerDiff) removed(level int, start uint64, block, n uint32) error {
	d.blocks.add(blockRun{block, n, d.ino, left, position(level, start)})
	d.todo.owned.add(d.ino)
	if level > 0 || d.wasDir() {
		for i := range n {
			d.noteOld(level, start+uint64(i), block+i)
		}
	}
	return d.tooMany()
}

func (d *pointerDiff) added(level int, start uint64, block, n uint32) (follow bool, err error) {
	d.todo.owned.add(d.ino)
	sound := false
	for i := range n {
		if sound = d.newPointer(level, start+uint64(i), block+i); sound && level == 0 {
			d.showsData(d.ino, d.is, start+uint64(i), block+i)
		}
	}
	if d.image != nil {
		err = d.image.claimMost()
	} else {
		err = d.tooMany()
	}
	if err != nil || level == 0 || !sound {
		return false, err
	}
	fault := func(format string, args ...any) {
		d.fault(on(checkIndirect.at(d.Geo.Addr(block), format, args...), ondisk.KindInode, uint64(d.ino)))
	}
	switch known, _ := d.roles.Get(block); {
	case !d.visited.Enter(block):
		if d.image == nil { // in an image, rule 5 reports the second owner
			fault("it is used again at position %d", position(level, start))
		}
		return false, nil
	case !d.leap && !d.rewrote(block) && int(known.Level) != level:
		fault("position %d begins to point to it, and the transaction does not write it", position(level,
			start))
		return false, nil
	}
	return true, nil
}

// newPointer notes a pointer, and reports whether it names a block that it may name.
func (d *pointerDiff) newPointer(level int, start uint64, block uint32) bool {
	if !d.Geo.InRange(block) || d.FixedMeta(block) {
		d.fault(on(checkPointer.at(d.inodeAddr(d.ino), "the pointer at position %d names block %d",
			position(level, start), block),
			ondisk.KindInode, uint64(d.ino)))
		return false
	}
	d.blocks.add(blockRun{block, 1, d.ino, named, position(level, start)})
	d.noteNew(level, start, block)
	return true
}

func (d *pointerDiff) same(level int, start uint64, block uint32) error {
	d.noteOld(level, start, block)
	d.noteNew(level, start, block)
	return nil
}

// noteOld notes the use of a block before the transaction.
func (d *pointerDiff) noteOld(level int, start uint64, block uint32) {
	if level == 0 && d.wasDir() {
		d.oldBlocks = append(d.oldBlocks, dirBlock{start, block})
	}
	if d.image == nil && (level > 0 || d.wasDir()) {
		d.noRole[block] = Role{d.ino, uint8(level), uint32(start)}
	}
}

// noteNew notes the use of a block after the transaction.
func (d *pointerDiff) noteNew(level int, start uint64, block uint32) {
	if level == 0 && d.isDir() {
		d.newBlocks = append(d.newBlocks, dirBlock{start, block})
	}
	if d.image == nil && (level > 0 || d.isDir()) {
		d.newRole[block] = Role{d.ino, uint8(level), uint32(start)}
	}
}

// addRewritten adds the blocks of a directory that were rewritten in their places.
func (d *pointerDiff) addRewritten() {
	moved := make(map[uint32]bool, len(d.oldBlocks)+len(d.newBlocks))
	for _, b := range d.oldBlocks {
		moved[b.block] = true
	}
	for _, b := range d.dirBlocks[d.ino] {
		if !moved[b.block] {
			d.oldBlocks, d.newBlocks = append(d.oldBlocks, b), append(d.newBlocks, b)
		}
	}
}
