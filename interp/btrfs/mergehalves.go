package btrfs

import (
	"sort"
	"sync"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// halvesFrom is for how many records two goroutines compare a tree. Where there are fewer, that is
// done within ten milliseconds, and the other processor is the guest's.
const halvesFrom = 1 << 15

// large reports whether much has been added to a tree or deleted from it, so that about that many
// records are to be made.
func (t *treeDiff) large() bool {
	apart := max(t.newRecords-t.oldRecords, t.oldRecords-t.newRecords)
	return apart >= halvesFrom && 2*apart >= t.newRecords+t.oldRecords
}

// mergeHalves is mergeTree by two goroutines, each for the items on one side of a key. The records
// and the names are the same, and in the same order: the second half's are put behind the first's.
// It reports false where it has done nothing, as there is no such key, or it is not certain that
// there is room for all of the records.
func (d *diff) mergeHalves(t *treeDiff) bool {
	out, most := d.out, t.newRecords+t.oldRecords
	if out.sink != nil || out.drop {
		return false
	}
	newLeaves, oldLeaves := t.newLeaves(), t.oldLeaves
	have := len(out.txn.Records)
	// A name has its bytes in a leaf, and those of its item.
	names := 3 * uint64(len(newLeaves)+len(oldLeaves)) * uint64(d.new.rules.nodeSize)
	if have+most > maxRecords || !out.memory.Holds(out.otherBytes+uint64(have+most)*interp.RecordBytes+out.txn.Names.Bytes()+names) {
		return false
	}
	middle, ok := d.middle(newLeaves, oldLeaves)
	if !ok {
		return false
	}
	first, second := keyInterval{end: middle, hasEnd: true}, keyInterval{from: middle}
	newsAt, err1 := d.new.leavesBelow(newLeaves, middle)
	oldsAt, err2 := 0, error(nil)
	if d.old != nil {
		oldsAt, err2 = d.old.leavesBelow(oldLeaves, middle)
	}
	if err1 != nil || err2 != nil {
		return false // whoever reads these leaves in their turn says what is wrong
	}

	// The second half's records are made behind where those of the first are expected to end.
	behind := have + (cap(out.txn.Records)-have)*newsAt/max(len(newLeaves), 1)
	other := *d
	other.faults, other.unknown, other.used = nil, nil, 0
	other.out = newRecorder(&change.Txn{Schema: ondisk.Schema, Generation: out.txn.Generation, Names: change.NewNames(),
		Records: out.txn.Records[behind:behind]}, out.dec.ctx)
	other.out.dec.ctx, other.out.oldDec.ctx = out.dec.ctx, out.oldDec.ctx
	other.out.begin(t.tree)
	whole := out.txn.Records
	out.txn.Records = whole[:have:behind]

	var wg sync.WaitGroup
	wg.Go(func() {
		other.record(func(visit func(k ondisk.Key, old, now *itemRef) error) error {
			return t.mergePart(newLeaves[max(newsAt-1, 0):], oldLeaves[max(oldsAt-1, 0):], second, visit)
		}, nil)
	})
	d.record(func(visit func(k ondisk.Key, old, now *itemRef) error) error {
		return t.mergePart(newLeaves[:newsAt], oldLeaves[:oldsAt], first, visit)
	}, nil)
	wg.Wait()
	if n := len(out.txn.Records); n <= behind { // else the first half's records have moved
		out.txn.Records = whole[:n]
	}
	d.absorb(&other)
	return true
}

// take puts what the second half has found behind what the first has.
func (d *diff) absorb(other *diff) {
	d.used += other.used
	for _, v := range other.faults {
		if len(d.faults) < maxFaults {
			d.faults = append(d.faults, v)
		}
	}
	if d.unknown == nil {
		d.unknown = other.unknown
	}
	if !d.failed() {
		d.out.txn.Take(other.out.txn)
	}
}

// middle returns the first key of a group of items about which as many leaves are on either side;
// ok is false if there is none.
func (d *diff) middle(newLeaves, oldLeaves []pointer) (k ondisk.Key, ok bool) {
	s, leaves := d.new, newLeaves
	if len(oldLeaves) > len(newLeaves) {
		s, leaves = d.old, oldLeaves
	}
	if len(leaves) < 2 {
		return ondisk.Key{}, false
	}
	n, err := s.node(leaves[len(leaves)/2], false)
	if err != nil || n.NrItems() == 0 {
		return ondisk.Key{}, false
	}
	return groupOf(n.Key(0)), true
}

// leavesBelow returns how many of some leaves, which are in order, begin below a key.
func (s *state) leavesBelow(leaves []pointer, k ondisk.Key) (count int, err error) {
	count = sort.Search(len(leaves), func(i int) bool {
		n, nodeErr := s.node(leaves[i], false)
		if nodeErr != nil {
			err = nodeErr
			return true
		}
		return n.NrItems() > 0 && n.Key(0).Compare(k) >= 0
	})
	return count, err
}
