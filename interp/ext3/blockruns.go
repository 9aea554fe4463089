package ext3

import (
	"cmp"
	"slices"

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

// howChanged is what happened to a blockRun.
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

// runBytes is the memory that a run takes, with its copies while pieces are made, bytes.
const runBytes = 72

func (r *blockRuns) bytes() uint64 { return uint64(r.len()+len(r.xattr)) * runBytes }

// len returns the number of runs.
func (r *blockRuns) len() (n int) {
	for _, runs := range r.runs {
		n += len(runs)
	}
	return n
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

// cut returns parts of the runs, in the order of their objects. Two pieces have all blocks in
// common or none, so that rules can join them by their first blocks. Each piece is as long as
// possible. There are at most as many pieces as pointers and bits; hold is told their number, and
// its error ends cut.
func (r *blockRuns) cut(hold func(pieces int) error) (pieces []blockRun, err error) {
	runs := r.longest()
	edges := make([]uint64, 0, 2*(len(runs)+len(r.xattr)))
	for _, b := range runs {
		edges = append(edges, uint64(b.first), b.end())
	}
	for _, block := range r.xattr {
		edges = append(edges, uint64(block), uint64(block)+1)
	}
	slices.Sort(edges)
	edges = slices.Compact(edges)
	pieces = make([]blockRun, 0, len(runs))
	var open []blockRun
	for i, at := range edges {
		open = slices.DeleteFunc(open, func(b blockRun) bool { return b.end() <= at })
		for ; len(runs) > 0 && uint64(runs[0].first) == at; runs = runs[1:] {
			open = append(open, runs[0])
		}
		if err := hold(len(pieces) + len(open)); err != nil {
			return nil, err
		}
		from := len(pieces)
		for _, b := range open {
			pieces = append(pieces, b.part(at, edges[i+1]))
		}
		if len(open) > 1 {
			slices.SortFunc(pieces[from:], blockRun.compare)
		}
	}
	return pieces, nil
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

// longest joins runs that continue each other, and returns all runs in the order of their first
// blocks.
func (r *blockRuns) longest() (all []blockRun) {
	for _, runs := range r.runs {
		slices.SortFunc(runs, func(a, b blockRun) int {
			return cmp.Or(cmp.Compare(a.of, b.of), cmp.Compare(a.pos, b.pos),
				cmp.Compare(a.first, b.first))
		})
		joined := runs[:0]
		for _, b := range runs {
			joined = extend(joined, b)
		}
		all = append(all, joined...)
	}
	slices.SortStableFunc(all, func(a, b blockRun) int { return cmp.Compare(a.first, b.first) })
	return all
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
