package ext3

import (
	"cmp"

	"fsward/change"
	"fsward/interp/ext3/ondisk"
)

// A blockRun is a range of blocks that change in the same way: consecutive bits of the block bitmap
// of a group, or consecutive pointers of an inode to consecutive blocks.
type blockRun struct {
	first, n uint32
	of       uint32 // the group of the bits, or the inode of the pointers
	how      howChanged
	pos      uint64 // position of the first pointer; of bits, and of inode 0, the first block
}

// howChanged is the kind of change of a blockRun.
type howChanged uint8

const (
	left   howChanged = iota // pointers were removed
	named                    // pointers were added
	freed                    // bits were cleared
	marked                   // bits were set
	howMany
)

func (b blockRun) end() uint64 { return uint64(b.first) + uint64(b.n) }

// part returns the blocks from one on and before another.
func (b blockRun) part(from, to uint64) blockRun {
	b.pos += from - uint64(b.first)
	b.first, b.n = uint32(from), uint32(to-from)
	return b
}

// continues reports whether b goes on where a ends.
func (b blockRun) continues(a blockRun) bool {
	return a.of == b.of && a.end() == uint64(b.first) && a.pos+uint64(a.n) == b.pos
}

// blockRuns holds the blocks of which bits or pointers change. A file that is deleted takes one run
// for each of its extents, and not one for each block.
type blockRuns struct {
	runs  [howMany][]blockRun
	xattr []uint32 // blocks that a pointer to extended attributes begins or stops to name
}

const runBytes = 24

func (r *blockRuns) bytes() (n uint64) {
	for _, runs := range r.runs {
		n += uint64(cap(runs)) * runBytes
	}
	return n + uint64(cap(r.xattr))*4
}

// add adds a run. It extends the run added before if it can.
func (r *blockRuns) add(b blockRun) { r.runs[b.how] = extend(r.runs[b.how], b) }

func extend(runs []blockRun, b blockRun) []blockRun {
	if n := len(runs); n > 0 && b.continues(runs[n-1]) {
		runs[n-1].n += b.n
		return runs
	}
	return append(runs, b)
}

// compare compares runs from the same block on: pointers come first, objects of one kind are in
// order. The same pointer can be removed and added, by its indirect block.
func (b blockRun) compare(c blockRun) int {
	o, p := b.object(), c.object()
	return cmp.Or(cmp.Compare(p.Kind, o.Kind), o.Compare(p), cmp.Compare(b.how, c.how))
}

// object returns the object in the records of a run.
func (b blockRun) object() change.Object {
	if b.how == named || b.how == left {
		return change.Object{Kind: ondisk.KindOwner, ID: uint64(b.first), Sub: uint64(b.of), Aux: b.pos}
	}
	return change.Object{Kind: ondisk.KindBlock, ID: uint64(b.first), Sub: uint64(b.n)}
}

// runRecords makes the records of a run.
func (r *records) runRecords(b blockRun) {
	o, f, v := b.object(), ondisk.FieldGroup, change.Num(uint64(b.of))
	if o.Kind == ondisk.KindOwner {
		f, v = ondisk.FieldLength, change.Num(uint64(b.n))
	}
	if b.how == named || b.how == marked {
		r.txn.Add(o)
		r.txn.Append(change.Record{Object: o, Field: f, New: v})
	} else {
		r.txn.Delete(o)
		r.txn.Append(change.Record{Object: o, Field: f, Old: v})
	}
}
