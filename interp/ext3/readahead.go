package ext3

import "bytes"

// aheadBytes is the number of bytes that are read at a time. It is a multiple of each block size.
const aheadBytes = 256 << 10

// eachBlock calls visit for n blocks from first on, and returns its first error. It reads many
// blocks at a time into one buffer, so visit must not keep the contents. Most blocks of the inode
// tables of a file system are zeros: eachBlock puts only the others into the cache.
func (s *State) eachBlock(first, n uint32, visit func(block uint32, contents []byte) error) error {
	for end := first + n; first < end; {
		size := min(s.inPlace(first, end-first), aheadBytes/s.geo.BlockSize)
		if size < 2 {
			b, err := s.Block(first)
			if err != nil {
				return err
			}
			if err := visit(first, b); err != nil {
				return err
			}
			first++
			continue
		}
		if err := s.eachAhead(first, size, visit); err != nil {
			return err
		}
		first += size
	}
	return nil
}

// inPlace returns how many of n blocks from first on can be read from the device at once: they are
// neither in memory nor in the journal, and all of them are on the device.
func (s *State) inPlace(first, n uint32) (size uint32) {
	for ; size < n; size++ {
		block := first + size
		p, err := s.where(block)
		if err != nil || p.Block != block || s.kept.get(block) != nil {
			break
		}
		if _, cached := s.cache[block]; cached {
			break
		}
	}
	return size
}

// eachAhead reads n blocks, at most aheadBytes, and calls visit for each.
func (s *State) eachAhead(first, n uint32, visit func(block uint32, contents []byte) error) error {
	if s.readBuffer == nil {
		s.readBuffer = make([]byte, aheadBytes)
	}
	size := s.geo.BlockSize
	buffer := s.readBuffer[:n*size]
	if err := s.meter.Spend(fetchSteps + int64(n)); err != nil {
		return err
	}
	if err := readInto(buffer, s.dev, s.geo, first); err != nil {
		return err
	}
	for i := range n {
		b := buffer[i*size:][:size]
		if !bytes.Equal(b, zeros[:size]) {
			b = bytes.Clone(b)
			s.enter(first+i, b)
		}
		if err := visit(first+i, b); err != nil {
			return err
		}
	}
	return nil
}

// enter puts a block into the cache.
func (s *State) enter(block uint32, contents []byte) {
	if len(s.cache) >= cacheBytes/int(s.geo.BlockSize) {
		s.forget()
	}
	s.cache[block] = contents
}

// A window reads blocks that its user needs once, and whose order on the disk is roughly that in
// which they are needed: the blocks of directories in the order of inodes. It does not put them
// into the cache. It reads twice as many at once if at least half of the last ones were needed, and
// otherwise half as many.
type window struct {
	first, n uint32 // the blocks in the buffer
	used     uint32 // how many of them were needed
	buffer   []byte
}

// next returns the contents of a block of a state, which are valid until the next call.
func (w *window) next(s *State, block uint32) ([]byte, error) {
	size := s.geo.BlockSize
	if at := block - w.first; at < w.n {
		if err := s.meter.Spend(1); err != nil {
			return nil, err
		}
		w.used++
		return w.buffer[at*size:][:size], nil
	}
	want := uint32(1)
	switch skipped := block - (w.first + w.n); {
	case skipped > w.n:
	case 2*w.used >= w.n:
		want = 2 * w.n
	default:
		want = w.n / 2
	}
	if want = s.inPlace(block, min(max(want, 1), aheadBytes/size)); want == 0 {
		return s.Block(block)
	}
	if err := s.meter.Spend(fetchSteps + int64(want)); err != nil {
		return nil, err
	}
	if w.buffer == nil {
		w.buffer = make([]byte, aheadBytes)
	}
	w.first, w.n, w.used = block, 0, 1
	err := readInto(w.buffer[:want*size], s.dev, s.geo, block)
	if err != nil && want > 1 { // of the others, nobody may need the one that cannot be read
		want = 1
		err = readInto(w.buffer[:size], s.dev, s.geo, block)
	}
	if err != nil {
		return nil, err
	}
	w.n = want
	return w.buffer[:size], nil
}
