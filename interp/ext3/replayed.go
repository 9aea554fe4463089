package ext3

import (
	"iter"

	"fsward/interp"
)

// A Replayed is what recovery makes of a disk: the disk with its journal replayed. The log itself
// reads as zeros, because recovery empties it.
type Replayed struct{ m *Mounted }

// Replay replays the journal of a disk in memory. The errors are those of Mount.
func Replay(d interp.Disk) (interp.Replayed, error) {
	m, err := Mount(d, d.Size())
	if err != nil {
		return nil, err
	}
	return &Replayed{m}, nil
}

// Changed yields the addresses of the blocks that the replay writes, in no order.
func (r *Replayed) Changed() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for block := range r.m.State.Copies {
			if !yield(r.m.Geo.Addr(block)) {
				return
			}
		}
	}
}

// ReadAt reads whole blocks. off and the length are multiples of the block size, which is at most
// 4096 bytes.
func (r *Replayed) ReadAt(p []byte, off int64) (int, error) {
	size := uint64(r.m.Geo.BlockSize)
	for done := uint64(0); done < uint64(len(p)); done += size {
		block := uint32((uint64(off) + done) / size)
		to := p[done:min(done+size, uint64(len(p)))]
		if _, log := r.m.Log.Logical(block); log && !r.m.Geo.External {
			clear(to)
			continue
		}
		b, err := r.m.State.read(block, to)
		if err != nil {
			return int(done), err
		}
		copy(to, b) // b may be kept elsewhere
	}
	return len(p), nil
}
