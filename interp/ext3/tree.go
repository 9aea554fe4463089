package ext3

import (
	"cmp"
	"slices"

	"fsward/interp/ext3/ondisk"
)

// A treeDiff compares the blocks that an inode maps before and after a transaction. It skips a
// subtree if the pointer to it is the same and the transaction did not rewrite its block.
type treeDiff struct {
	geo      *ondisk.Geometry
	old, new *State
	rewrote  func(block uint32) bool
	shown    blockRange // blocks of the file of which the pointers that stay are reported as well
	visited  *Visits
	// removed and added are called for n pointers to consecutive blocks, same is called for each
	// pointer. level is 0 for a block of the file, 1 to 3 for an indirect block; start is the number
	// of the first block of the file below it. n is 1 for an indirect block. added reports whether to
	// follow the pointer.
	removed func(level int, start uint64, block, n uint32) error
	added   func(level int, start uint64, block, n uint32) (follow bool, err error)
	same    func(level int, start uint64, block uint32) error
}

// A blockRange is a range of the blocks of a file, without to.
type blockRange struct{ from, to uint64 }

// meets reports whether a pointer of a level at a start leads to a block of the range.
func (r blockRange) meets(geo *ondisk.Geometry, level int, start uint64) bool {
	return r.from < r.to && start < r.to && r.from < start+geo.Span(level)
}

// Visits holds the indirect blocks that were visited, so that a loop of hostile pointers ends.
type Visits struct{ old, new numberSet }

// Walk visits each pointer of an inode: level is 0 for a block of the file, 1 to 3 for an indirect
// block; start is the number of the first block of the file below it. visit reports whether to
// follow the pointer. visit enters indirect blocks into visited, so that a loop of hostile pointers
// ends.
func (s Snapshot) Walk(i ondisk.Inode, visited *Visits, visit func(level int, start uint64,
	block uint32) (follow bool, err error)) error {
	d := treeDiff{geo: s.Geo, new: s.State, visited: visited}
	d.added = func(level int, start uint64, block, n uint32) (follow bool, err error) {
		for i := uint32(0); i < n && err == nil; i++ {
			follow, err = visit(level, start+uint64(i), block+i)
		}
		return follow, err
	}
	return d.inodes(nil, i)
}

// Enter notes an indirect block of the new state, and reports whether it was not there yet.
func (v *Visits) Enter(block uint32) (first bool) { return v.new.add(block) }

// inodes compares the pointers of two versions of an inode. A nil inode maps nothing.
func (d *treeDiff) inodes(before, after ondisk.Inode) error {
	start := uint64(0)
	for n := range ondisk.NPointers {
		level := max(0, n-ondisk.NDirect+1)
		var o, w uint32
		if before != nil {
			o = before.Pointer(n)
		}
		if after != nil {
			w = after.Pointer(n)
		}
		if o|w != 0 {
			if err := d.pair(level, start, o, w); err != nil {
				return err
			}
		}
		start += d.geo.Span(level)
	}
	return nil
}

// rewritten compares the indirect blocks that the transaction rewrote below pointers that stay,
// which the walk from the inode does not reach. It skips those that the walk did reach.
func (d *treeDiff) rewritten(blocks []indirectBlock) error {
	// The order is from the top, so that a block is reached from the block above it.
	slices.SortFunc(blocks, func(a, b indirectBlock) int { return cmp.Compare(b.level, a.level) })
	for _, b := range blocks {
		if d.visited.old.has(b.block) || d.visited.new.has(b.block) {
			continue
		}
		if err := d.pair(b.level, b.start, b.block, b.block); err != nil {
			return err
		}
	}
	return nil
}

func (d *treeDiff) pair(level int, start uint64, before, after uint32) error {
	if before != after {
		if err := d.gone(level, start, before, 1); err != nil {
			return err
		}
		return d.came(level, start, after, 1)
	}
	if before == 0 || !d.geo.InRange(before) {
		return nil
	}
	shown := d.shown.meets(d.geo, level, start)
	if shown {
		if err := d.same(level, start, before); err != nil {
			return err
		}
	}
	if level == 0 || !shown && !d.rewrote(before) {
		return nil
	}
	if !d.visited.old.add(before) || !d.visited.new.add(before) {
		return nil
	}
	o, err := d.old.Block(before)
	if err != nil {
		return err
	}
	w, err := d.new.Block(before)
	if err != nil {
		return err
	}
	step := d.geo.Span(level - 1)
	for off := 0; off < len(o); off += 4 {
		a, b := ondisk.LE32(o, off), ondisk.LE32(w, off)
		if a|b == 0 || a == b && level == 1 && !shown {
			continue
		}
		if err := d.pair(level-1, start+uint64(off/4)*step, a, b); err != nil {
			return err
		}
	}
	return nil
}

// gone visits all blocks that n pointers reached before. It skips faults, since they were there
// before.
func (d *treeDiff) gone(level int, start uint64, block, n uint32) error {
	if block == 0 {
		return nil
	}
	if err := d.removed(level, start, block, n); err != nil {
		return err
	}
	if level == 0 || !d.geo.InRange(block) || !d.visited.old.add(block) {
		return nil
	}
	return d.below(d.old, level, start, block, d.gone)
}

func (d *treeDiff) came(level int, start uint64, block, n uint32) error {
	if block == 0 {
		return nil
	}
	follow, err := d.added(level, start, block, n)
	if err != nil || level == 0 || !follow {
		return err
	}
	return d.below(d.new, level, start, block, d.came)
}

// below calls do for the pointers in an indirect block.
func (d *treeDiff) below(s *State, level int, start uint64, block uint32, do func(level int,
	start uint64, block, n uint32) error) error {
	b, err := s.Block(block)
	if err != nil {
		return err
	}
	step := d.geo.Span(level - 1)
	for off := 0; off < len(b); {
		p, n := ondisk.LE32(b, off), uint32(1)
		if level == 1 {
			n = consecutive(b, off)
		}
		if err := do(level-1, start+uint64(off/4)*step, p, n); err != nil {
			return err
		}
		off += 4 * int(n)
	}
	return nil
}

// consecutive returns how many pointers from one on name consecutive blocks. It is 1 for a pointer
// to no block.
func consecutive(b []byte, off int) (n uint32) {
	p := ondisk.LE32(b, off)
	for n = 1; p != 0; n++ {
		if off += 4; off >= len(b) || ondisk.LE32(b, off) != p+n || p+n == 0 {
			break
		}
	}
	return n
}

// position returns the number of a pointer's place in an inode, as rules use it (kind owner of the
// schema).
func position(level int, start uint64) uint64 { return uint64(level)<<40 + start }

// mapBlock returns the block that the pointer at a position of an inode names, 0 if there is none.
func (s Snapshot) mapBlock(i ondisk.Inode, pos uint64) (uint32, error) {
	target, start := int(pos>>40), pos&(1<<40-1)
	at := uint64(0)
	for n := range ondisk.NPointers {
		level := max(0, n-ondisk.NDirect+1)
		size := s.Geo.Span(level)
		if start < at || start >= at+size || target > level {
			at += size
			continue
		}
		block := i.Pointer(n)
		for ; level > target && block != 0; level-- {
			if !s.Geo.InRange(block) {
				return 0, nil
			}
			b, err := s.Block(block)
			if err != nil {
				return 0, err
			}
			step := s.Geo.Span(level - 1)
			k := (start - at) / step
			block, at = ondisk.LE32(b, int(4*k)), at+k*step
		}
		if start != at {
			return 0, nil // the position is inside the span of the pointer
		}
		return block, nil
	}
	return 0, nil
}
