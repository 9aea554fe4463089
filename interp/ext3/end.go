package ext3

import "fsward/interp/ext3/ondisk"

// maxTail bounds the indirect blocks that are read to find the end of a file. Linux leaves no
// indirect block without pointers (ext4_ind_truncate), so that one for each level is enough.
const maxTail = 64

// end returns the number of blocks up to the last one that an inode maps, holes included. ok is
// false if too many of the last indirect blocks are empty to find it.
func (s Snapshot) end(i ondisk.Inode) (n uint64, ok bool, err error) {
	start := s.Geo.Span(0)*ondisk.NDirect + s.Geo.Span(1) + s.Geo.Span(2) + s.Geo.Span(3)
	budget := maxTail
	for k := ondisk.NPointers - 1; k >= 0; k-- {
		level := max(0, k-ondisk.NDirect+1)
		start -= s.Geo.Span(level)
		n, ok, err := s.endBelow(i.Pointer(k), level, start, &budget)
		if err != nil || !ok || n > 0 {
			return n, ok, err
		}
	}
	return 0, true, nil
}

func (s Snapshot) endBelow(block uint32, level int, start uint64, budget *int) (n uint64, ok bool,
	err error) {
	switch {
	case block == 0 || !s.Geo.InRange(block):
		return 0, true, nil
	case level == 0:
		return start + 1, true, nil
	case *budget == 0:
		return 0, false, nil
	}
	*budget--
	b, err := s.Block(block)
	if err != nil {
		return 0, false, err
	}
	step := s.Geo.Span(level - 1)
	for off := len(b) - 4; off >= 0; off -= 4 {
		p := ondisk.LE32(b, off)
		if p == 0 {
			continue
		}
		if n, ok, err = s.endBelow(p, level-1, start+uint64(off/4)*step, budget); err != nil || !ok ||
			n > 0 {
			return n, ok, err
		}
	}
	return 0, true, nil
}
