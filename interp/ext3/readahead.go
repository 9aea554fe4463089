package ext3

import "bytes"

// aheadBytes is the number of bytes that eachBlock reads at a time. It is a multiple of each block
// size.
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
