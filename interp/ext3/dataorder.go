package ext3

import (
	"fmt"

	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

// With data=ordered, the blocks of a file are written before the commit that makes them reachable: ext4_map_blocks puts the
// Inode on the transaction's list, and jbd2_journal_commit_transaction writes and waits for what is on it before it writes
// the commit block, which comes after a flush. Otherwise a crash shows in the file what another one had in its blocks.
//
// A transaction begins to run when the one before it is being committed, and that when the one before has its commit block on
// the disk. So what a transaction allocates was written since the commit before the last. That the mount orders its data is
// not on the disk: someone has to say so (ExpectOrdered). See docs/decisions/0024.

// A dataRun is blocks of a file, one after the other on the device, that a transaction makes reachable.
type dataRun struct{ block, n, ino uint32 }

// A writtenRun is a write that need not be durable.
type writtenRun struct {
	block, n uint32
	seq      uint64
}

// maxPending bounds the writes that are kept as not durable; beyond it the older half counts as durable.
const maxPending = 1 << 16

// A dataOrder knows which blocks were written of late.
type dataOrder struct {
	now, before blockSet     // durable: written since the last commit, and between the one before it and that
	pending     []writtenRun // in the order of their numbers
	commits     int          // since the disk was attached, up to 2; of what was written before nothing is known
	noted       bool         // that data comes after its commit
}

// wrote is told of a write that was done.
func (o *dataOrder) wrote(r writtenRun) {
	if r.seq == 0 {
		o.now.add(r.block, r.n)
		return
	}
	if len(o.pending) == maxPending {
		o.settle(maxPending / 2)
	}
	o.pending = append(o.pending, r)
}

// settle makes the first n pending writes durable.
func (o *dataOrder) settle(n int) {
	for _, r := range o.pending[:n] {
		o.now.add(r.block, r.n)
	}
	o.pending = append(o.pending[:0], o.pending[n:]...)
}

// flush is told that writes up to a number are durable.
func (o *dataOrder) flush(seq uint64) {
	n := 0
	for n < len(o.pending) && o.pending[n].seq <= seq {
		n++
	}
	o.settle(n)
}

// committed begins the next transaction. flushed: there was a flush since the last one.
func (o *dataOrder) committed(flushed bool) {
	if !flushed {
		o.settle(len(o.pending)) // nothing tells when they are
	}
	o.before, o.now = o.now, blockSet{}
	o.commits = min(o.commits+1, 2)
}

// missing counts the blocks of runs that were not written, and those that were not flushed if all has to be. first is one of
// them, of the former if there are any.
func (o *dataOrder) missing(runs []dataRun, flushes bool) (unwritten, unflushed int, first dataRun) {
	var pending blockSet
	for _, r := range o.pending {
		pending.add(r.block, r.n)
	}
	for _, r := range runs {
		for b := r.block; b < r.block+r.n; b++ {
			switch {
			case o.now.has(b) || o.before.has(b):
				continue
			case !pending.has(b):
				if unwritten++; unwritten == 1 {
					first = dataRun{b, 1, r.ino}
				}
			case flushes:
				if unflushed++; unflushed == 1 && unwritten == 0 {
					first = dataRun{b, 1, r.ino}
				}
			}
		}
	}
	return unwritten, unflushed, first
}

// observeData judges a commit by the data that it makes reachable.
func (f *FS) observeData(c comparison, obs *interp.Observation) {
	if f.data.commits < 2 || len(c.delta.inodes.data) == 0 || !f.ordered && f.data.noted {
		return
	}
	unwritten, unflushed, first := f.data.missing(c.delta.inodes.data, f.order.orderly >= learned)
	switch {
	case unwritten+unflushed == 0:
	case f.ordered:
		what := "was not written before the commit"
		if unwritten == 0 {
			what = "was written and not flushed before the commit"
		}
		obs.Violations = append(obs.Violations, on(checkData.at(c.layout.Geo.Addr(first.block),
			"block %d, which inode %d begins to point to, %s (%d blocks not written, %d not flushed)", first.block, first.ino, what, unwritten, unflushed),
			ondisk.KindInode, uint64(first.ino)))
	case unwritten > 0 && obs.Note == "":
		obs.Note = fmt.Sprintf("transaction %d makes %d blocks reachable that were not written before (the first is block %d, of inode %d): "+
			"data=writeback? If the guest mounts with data=ordered, guard it with --data-ordered", c.t.seq, unwritten, first.block, first.ino)
		f.data.noted = true
	}
}

// ExpectOrdered is told that the file system is mounted with data=ordered (or data=journal), and in no other way.
func (f *FS) ExpectOrdered() { f.ordered = true }

// A blockSet is a set of block numbers. It takes 4 KiB for each 32,768 blocks of which one is in it, at most 16 MiB: a set that would
// take more has all blocks, so that what is written everywhere counts as written.
type blockSet struct {
	pages map[uint32]*[setWords]uint64
	all   bool
}

const (
	setWords = 512
	setBits  = 64 * setWords
	maxPages = 4096
)

func (s *blockSet) add(block, n uint32) {
	if s.pages == nil {
		s.pages = make(map[uint32]*[setWords]uint64)
	}
	for b := uint64(block); b < uint64(block)+uint64(n); b++ {
		p := s.pages[uint32(b/setBits)]
		if p == nil {
			if len(s.pages) == maxPages {
				s.all = true
				return
			}
			p = new([setWords]uint64)
			s.pages[uint32(b/setBits)] = p
		}
		p[b%setBits/64] |= 1 << (b % 64)
	}
}

func (s *blockSet) has(block uint32) bool {
	p := s.pages[block/setBits]
	return s.all || p != nil && p[block%setBits/64]>>(block%64)&1 == 1
}
