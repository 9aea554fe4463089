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
// operator states it (ExpectOrdered). A file that is cut is an exception (lateRun). See
// docs/decisions/0024.

// A dataRun is a run of blocks of one file that a transaction makes reachable. last is the highest
// position in the file, in blocks.
type dataRun struct{ block, n, ino, last uint32 }

// dataRunBytes is the memory of a dataRun.
const dataRunBytes = 16

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
	late        []lateRun    // of the last commits, if the operator states data=ordered
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
func (o *dataOrder) committed(late []lateRun) {
	if !o.flushed {
		o.settle(len(o.pending)) // no flush will say when they are durable
	}
	o.before, o.now, o.flushed = o.now, blockSet{}, false
	o.commits, o.late = min(o.commits+1, 2), late
}

// missing returns the blocks of runs that were not written, and those that were written and not
// flushed.
func (o *dataOrder) missing(runs []dataRun) (unwritten, unflushed []dataRun) {
	var pending blockSet
	for _, r := range o.pending {
		pending.add(r.block, r.n)
	}
	for _, r := range runs {
		for b := r.block; b < r.block+r.n; b++ {
			switch {
			case o.now.has(b) || o.before.has(b):
			case pending.has(b):
				unflushed = addData(unflushed, dataRun{b, 1, r.ino, r.last})
			default:
				unwritten = addData(unwritten, dataRun{b, 1, r.ino, r.last})
			}
		}
	}
	return unwritten, unflushed
}

// addData adds a run. It extends the run added before if it can.
func addData(runs []dataRun, r dataRun) []dataRun {
	if n := len(runs); n > 0 && runs[n-1].ino == r.ino && runs[n-1].block+runs[n-1].n == r.block {
		runs[n-1].n += r.n
		runs[n-1].last = max(runs[n-1].last, r.last)
		return runs
	}
	return append(runs, r)
}

// countData returns the number of blocks of runs.
func countData(runs []dataRun) (n uint64) {
	for _, r := range runs {
		n += uint64(r.n)
	}
	return n
}

// observeData checks that the data that a commit makes reachable was written before the commit. It
// returns the runs that the next commits have to settle (lateRun).
func (f *FS) observeData(c comparison, obs *interp.Observation) (late []lateRun) {
	if f.ordered && c.err == nil {
		late = f.data.settleLate(c, obs)
	}
	if f.data.commits < 2 || len(c.delta.inodes.data) == 0 || !f.ordered && f.data.noted {
		return late
	}
	unwritten, unflushed := f.data.missing(c.delta.inodes.data)
	if f.ordered && len(unflushed) > 0 && f.order.orderly >= inferAfter {
		r := unflushed[0]
		obs.Violations = append(obs.Violations, on(checkData.at(c.layout.Geo.Addr(r.block),
			"block %d, which inode %d begins to point to, was written and not flushed before the commit"+
				" (%d blocks)", r.block, r.ino, countData(unflushed)), ondisk.KindInode, uint64(r.ino)))
	}
	if len(unwritten) == 0 {
		return late
	}
	if !f.data.noted && obs.Note == "" {
		obs.Note = lateNote(f.ordered, c.t.seq, unwritten)
		f.data.noted = true
	}
	if f.ordered {
		late = addLate(late, unwritten, c.t.seq)
	}
	return late
}

// lateNote is the note about the first commit of a mount whose data was not written before it.
// ordered: the guest does not mount with data=writeback.
func lateNote(ordered bool, seq uint32, unwritten []dataRun) string {
	why := "data=writeback? If the guest mounts with data=ordered, guard it with --data-ordered"
	if ordered {
		why = "until the next commit, a crash shows their former content. Linux allows this when the" +
			" file is cut at the same time. If the file keeps them as they are, a later commit is a" +
			" violation"
	}
	return fmt.Sprintf("transaction %d makes %d blocks reachable that were not written before (the"+
		" first is block %d, of inode %d): %s", seq, countData(unwritten), unwritten[0].block,
		unwritten[0].ino, why)
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
