package btrfs

import (
	"sort"
	"sync"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// halvesFrom is the number of records from which two goroutines compare a tree. One goroutine makes
// fewer records within ten milliseconds, and leaves the other processor to the guest.
const halvesFrom = 1 << 15

// large reports whether many items were added to a tree or deleted from it, so that the comparison
// makes about as many records.
func (t *treeDiff) large() bool {
	apart := max(t.newRecords-t.oldRecords, t.oldRecords-t.newRecords)
	return apart >= halvesFrom && 2*apart >= t.newRecords+t.oldRecords
}

// mergeHalves is mergeTree with two goroutines, each for the items on one side of a key. It makes
// the same records and names in the same order, since it appends those of the second half to those
// of the first. It returns false and does nothing if there is no such key, or if the memory may not
// suffice for all records.
func (d *diff) mergeHalves(t *treeDiff, l *treeLeaves) bool {
	out, most := d.out, t.newRecords+t.oldRecords
	if out.sink != nil || out.dropped || d.alone {
		return false
	}
	have := len(out.txn.Records)
	// The names take less than three times the bytes of their leaves.
	names := 3 * uint64(len(l.new)+len(l.old)) * uint64(d.new.rules.nodeSize)
	bytes := out.otherBytes + uint64(have+most)*interp.RecordBytes + out.txn.Names.Bytes() + names
	if have+most > maxRecords || !out.memory.Holds(bytes) {
		return false
	}
	middle, ok := l.middle(d.new)
	if !ok {
		return false
	}
	first, second := keyInterval{end: middle, hasEnd: true}, keyInterval{from: middle}
	newsAt, err1 := leavesBelow(d.new, l.new, middle)
	oldsAt, err2 := 0, error(nil)
	if l.from != nil {
		oldsAt, err2 = leavesBelow(l.from, l.old, middle)
	}
	if err1 != nil || err2 != nil {
		return false // the sequential merge will report the fault
	}

	// The records of the second half begin where those of the first half are expected to end.
	behind := have + (cap(out.txn.Records)-have)*newsAt/max(len(l.new), 1)
	other := d.secondHalf(t, out.txn.Records[behind:behind])
	whole := out.txn.Records
	out.txn.Records = whole[:have:behind]

	var wg sync.WaitGroup
	wg.Go(func() {
		other.record(&treeLeaves{tree: l.tree, from: l.from, new: l.new[max(newsAt-1, 0):],
			old: l.old[max(oldsAt-1, 0):]}, second, nil)
	})
	d.record(&treeLeaves{tree: l.tree, from: l.from, new: l.new[:newsAt],
		old: l.old[:oldsAt]}, first, nil)
	wg.Wait()
	if cap(out.txn.Records) == behind { // otherwise the first half has a new, larger slice
		out.txn.Records = whole[:len(out.txn.Records)]
	}
	d.absorb(other)
	return true
}

// secondHalf returns a diff for the second half of a tree. It appends its records to the given
// slice.
func (d *diff) secondHalf(t *treeDiff, records []change.Record) *diff {
	other := *d
	other.faultList, other.used = faultList{}, 0
	txn := &change.Txn{Schema: ondisk.Schema, Generation: d.out.txn.Generation,
		Names: change.NewNames(), Records: records}
	other.out = newRecorder(txn, d.out.dec.ctx)
	other.out.dec.ctx, other.out.oldDec.ctx = d.out.dec.ctx, d.out.oldDec.ctx
	other.out.begin(t.tree)
	return &other
}

// absorb appends the results of the second half to those of the first.
func (d *diff) absorb(other *diff) {
	d.used += other.used
	d.add(&other.faultList)
	if !d.failed() {
		d.out.txn.Take(other.out.txn)
	}
}

// middle returns a key with about as many leaves on either side. It is the first key of a group of
// items. ok is false if there are fewer than two leaves, or the one in the middle is unusable. s is
// the state of the new leaves.
func (l *treeLeaves) middle(s *state) (k ondisk.Key, ok bool) {
	leaves := l.new
	if len(l.old) > len(l.new) {
		s, leaves = l.from, l.old
	}
	if len(leaves) < 2 {
		return ondisk.Key{}, false
	}
	n, err := s.node(leaves[len(leaves)/2].pointer, false)
	if err != nil || n.NrItems() == 0 {
		return ondisk.Key{}, false
	}
	return groupOf(n.Key(0)), true
}

// leavesBelow returns the number of leaves of a state that begin below a key. The leaves are in the
// order of keys.
func leavesBelow(s *state, leaves []leaf, k ondisk.Key) (count int, err error) {
	count = sort.Search(len(leaves), func(i int) bool {
		n, nodeErr := s.node(leaves[i].pointer, false)
		if nodeErr != nil {
			err = nodeErr
			return true
		}
		return n.NrItems() > 0 && n.Key(0).Compare(k) >= 0
	})
	return count, err
}
