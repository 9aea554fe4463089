package ext3

import (
	"fmt"
	"iter"

	"fsward/interp"
	"fsward/interp/ext3/ondisk"
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

// Ignore clears the log, the times and counters of the superblock and its copies, and the times and
// generations of inodes.
func (r *Replayed) Ignore(page []byte, off int64) {
	size := uint64(r.m.Geo.BlockSize)
	for done := uint64(0); done < uint64(len(page)); done += size {
		block := uint32((uint64(off) + done) / size)
		b := page[done:min(done+size, uint64(len(page)))]
		_, log := r.m.Log.Logical(block)
		switch {
		case log && !r.m.Geo.External:
			clear(b)
		case r.m.holdsInodes(block):
			for n := uint32(0); n < uint32(len(b)); n += r.m.Geo.InodeSize {
				ondisk.ClearTimes(b[n:n+r.m.Geo.InodeSize], r.m.Geo.Inodes)
			}
		case block == r.m.Geo.SuperBlock():
			ondisk.ClearSuperTimes(b[ondisk.SuperOff%size:])
		case r.m.Geo.IsSuperCopy(block):
			ondisk.ClearSuperTimes(b)
		}
	}
}

// holdsInodes reports whether a block is part of a table of inodes.
func (l *Layout) holdsInodes(block uint32) bool {
	return l.Geo.InRange(block) &&
		block-l.Places[l.Geo.GroupOf(block)].InodeTable < l.Geo.TableBlocks
}

// Work says whether the log holds no whole transaction, one or several, and how many blocks the
// part of a transaction behind them describes.
func (r *Replayed) Work() string {
	l := &r.m.Log
	if l.idle {
		return "none"
	}
	whole := min(len(l.starts), 2)
	t, _, err := l.collect(r.m.State.dev, l.head, l.nextSeq)
	if err != nil {
		return fmt.Sprintf("%d, then %d: %v", whole, l.head, err)
	}
	return fmt.Sprintf("%d, then %d copies and %t", whole, len(t.Copies), t.next != l.Next(t.start))
}
