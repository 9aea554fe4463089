package ext3

import (
	"bytes"
	"cmp"
	"io"
	"slices"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

// A Log is the journal of a mounted file system with the position of its next transaction.
type Log struct {
	Journal
	// idle is set if the journal's superblock says that the log is empty. The next transaction then
	// begins with a write of this superblock.
	idle bool
	// recovering is set while the guest replays the log. The replay may write blocks that later
	// transactions overwrite. It ends with the next write of the journal's superblock.
	recovering bool
	head       uint32 // where the next transaction begins, a block of the journal
	nextSeq    uint32 // its number
	// starts holds the first block of each transaction that is still in the log, by its number.
	starts map[uint32]uint32
}

// A LogEntry is a transaction that the log holds: its number, and the block of the journal where it
// begins.
type LogEntry struct{ Seq, Start uint32 }

// Entries lists the transactions that the log holds, in order.
func (l *Log) Entries() (list []LogEntry) {
	for seq, start := range l.starts {
		list = append(list, LogEntry{seq, start})
	}
	slices.SortFunc(list, func(a, b LogEntry) int { return cmp.Compare(int32(a.Seq-b.Seq), 0) })
	return list
}

// NextSeq returns the number of the transaction that the next commit ends.
func (l *Log) NextSeq() uint32 { return l.nextSeq }

// begin sets the position to that in the journal's superblock. recover reports whether the file
// system's superblock asks for recovery.
func (l *Log) begin(recover bool) {
	l.idle, l.head, l.nextSeq = l.Start == 0 || !recover, l.Start, l.Seq
	l.recovering = !l.idle
}

// committed moves the position behind a transaction.
func (l *Log) committed(t *transaction) {
	l.starts[t.seq] = t.start
	l.head, l.nextSeq = t.next, t.seq+1
}

// A tailMove is the change of the log by a write of the journal's superblock.
type tailMove struct {
	super         ondisk.JournalSuper
	head, nextSeq uint32
	idle          bool
}

// moveTo drops the transactions before the one that the journal's superblock names.
func (l *Log) moveTo(to tailMove) {
	l.JournalSuper, l.recovering = to.super, false
	l.head, l.nextSeq, l.idle = to.head, to.nextSeq, to.idle
	for old := range l.starts {
		if to.idle || int32(old-to.super.Seq) < 0 {
			delete(l.starts, old)
		}
	}
}

// needs reports whether recovery would still read a block of the journal.
func (l *Log) needs(logical uint32) bool {
	tail := l.Start
	if logical >= l.MaxLen {
		return false
	}
	if tail < l.head {
		return logical >= tail && logical < l.head
	}
	return logical >= l.First && (logical >= tail || logical < l.head)
}

// contains reports whether a write changes the log. The journal's superblock is no part of it.
func (l *Log) contains(w interp.Write) bool {
	for _, r := range l.Runs {
		if skip := l.superAt + 1; r.logical == 0 { // the journal's superblock
			r.Block, r.N = r.Block+skip, r.N-min(r.N, skip)
		}
		if touches(w, l.Geo.Addr(r.Block), uint64(r.N)*uint64(l.Geo.BlockSize)) {
			return true
		}
	}
	return false
}

// overwritten checks a write over a part of the log that recovery would still read. before is the
// device without the write. A program that writes through the page cache writes a whole page, and
// the other blocks of the page do not change. e2fsck writes the journal's superblock in this way.
func (l *Log) overwritten(w interp.Write, before io.ReaderAt) (*change.Violation, error) {
	tail := l.Start
	if l.idle || tail == 0 || l.nextSeq == l.Seq {
		return nil, nil
	}
	bs := uint64(l.Geo.BlockSize)
	for _, r := range l.Runs {
		lo, hi := max(w.Off, l.Geo.Addr(r.Block)), min(w.Off+w.Len, l.Geo.Addr(r.Block+r.N))
		for at := lo / bs * bs; at < hi; at += bs {
			logical := r.logical + uint32(at/bs) - r.Block
			if !l.needs(logical) {
				continue
			}
			old, err := ReadBlock(before, l.Geo, uint32(at/bs))
			if err != nil {
				return nil, err
			}
			written, err := ReadBlock(PendingDevice{before, w}, l.Geo, uint32(at/bs))
			if err != nil {
				return nil, err
			}
			if w.Discard || !bytes.Equal(old, written) {
				v := checkOverwrite.at(at,
					"block %d of the journal is overwritten; transactions from block %d to block %d are needed",
					logical, tail, l.head)
				return &v, nil
			}
		}
	}
	return nil, nil
}

// holdsCommit reports whether a write puts the commit block of a transaction anywhere into the
// journal.
func (l *Log) holdsCommit(w interp.Write, seq uint32) bool {
	bs := uint64(l.Geo.BlockSize)
	for _, r := range l.Runs {
		lo, hi := max(w.Off, l.Geo.Addr(r.Block)), min(w.Off+w.Len, l.Geo.Addr(r.Block+r.N))
		if lo >= hi || w.Data == nil {
			continue
		}
		for at := lo / bs * bs; at < hi; at += bs {
			// A block that the write covers in part is examined if its header is in that part.
			if at >= w.Off && at+ondisk.JournalHeaderLen <= w.Off+w.Len && ondisk.IsCommit(w.Data[at-w.Off:],
				seq) {
				return true
			}
		}
	}
	return false
}
