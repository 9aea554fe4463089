package ext3

import (
	"fmt"

	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

// With data=ordered, Linux writes the blocks of a file before the commit that makes them reachable.
// ext4_map_blocks puts the inode on the transaction's list. jbd2_journal_commit_transaction writes
// the data of the inodes on the list, waits, flushes, and then writes the commit block. In any
// other order, a crash could show old data of other files.
//
// A transaction starts to run while its predecessor commits, and the predecessor starts to commit
// after the commit block of its own predecessor is on the disk. So the data of a transaction was
// written after the commit before the last. The mount option is not stored on the disk: the
// operator states it (ExpectOrdered). See docs/decisions/0024.

// A dataRun is a run of blocks of one file that a transaction makes reachable.
type dataRun struct{ block, n, ino uint32 }

// dataRunBytes is the memory of a dataRun.
const dataRunBytes = 12

// A writtenRun is a write that may not be durable yet.
type writtenRun struct {
	block, n uint32
	seq      uint64
}

// maxPending bounds the writes that are kept as not durable. Beyond it the older half counts as
// durable.
const maxPending = 1 << 16

// A dataOrder holds the blocks that were written since the commit before the last.
type dataOrder struct {
	// durable: written since the last commit, and between the last two commits
	now, before blockSet
	pending     []writtenRun // in the order of their numbers
	flushed     bool         // there was a flush since the last commit
	commits     int          // since the disk was attached, at most 2; earlier writes are unknown
	noted       bool         // a note already said that data comes after its commit
}

// wrote adds a completed write.
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

// flush makes the writes up to a number durable.
func (o *dataOrder) flush(seq uint64) {
	o.flushed = true
	n := 0
	for n < len(o.pending) && o.pending[n].seq <= seq {
		n++
	}
	o.settle(n)
}

// committed begins the next transaction.
func (o *dataOrder) committed() {
	if !o.flushed {
		o.settle(len(o.pending)) // no flush will say when they are durable
	}
	o.before, o.now, o.flushed = o.now, blockSet{}, false
	o.commits = min(o.commits+1, 2)
}

// missing counts the blocks of runs that were not written and, if flushes is set, those that were
// written and not flushed. first is one of them. It is one that was not written, if there is such a
// block.
func (o *dataOrder) missing(runs []dataRun, flushes bool) (unwritten, unflushed int,
	first dataRun) {
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

// observeData checks that the data that a commit makes reachable was written before the commit.
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
			"block %d, which inode %d begins to point to, %s (%d blocks not written, %d not flushed)",
			first.block, first.ino, what, unwritten, unflushed),
			ondisk.KindInode, uint64(first.ino)))
	case unwritten > 0 && obs.Note == "":
		obs.Note = fmt.Sprintf("transaction %d makes %d blocks reachable that were not written before"+
			" (the first is block %d, of inode %d): data=writeback? If the guest mounts with"+
			" data=ordered, guard it with --data-ordered", c.t.seq, unwritten, first.block, first.ino)
		f.data.noted = true
	}
}

// ExpectOrdered says that the file system is mounted with data=ordered or data=journal only.
func (f *FS) ExpectOrdered() { f.ordered = true }

// A blockSet is a set of block numbers. It takes 4 KiB for each range of 32,768 blocks that has a
// member, and at most 16 MiB. A set that would take more holds all blocks, so that the check
// accepts data everywhere.
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
