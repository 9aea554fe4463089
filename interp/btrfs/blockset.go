package btrfs

// A blockSet is a set of metadata blocks, one bit for each sector in which a block can begin.
type blockSet struct {
	sector uint64
	words  map[uint64]uint64 // by the address in units of 64 sectors
}

// add adds the block at a logical address, and reports whether the set had it before.
func (s *blockSet) add(logical uint64) (had bool) {
	at := logical / s.sector
	word, bit := s.words[at/64], uint64(1)<<(at%64)
	s.words[at/64] = word | bit
	return word&bit != 0
}
