package compile

import (
	"errors"
	"math"

	"fsward/invariants/syntax"
)

// What is summed up over a whole file system can have a key for each of its files. Where the memory does not hold them
// all, a table keeps a share of its keys, by their hash, and the file system is gone through again for each other share.
// A record is judged in the round in which the first sum that its rule asks for is at hand.

// aggBudget is the memory for sums over a stream, and the tables that share it.
type aggBudget struct {
	free    uint64 // bytes
	tables  []*sumTable
	round   uint64 // which shares are at hand
	settled bool   // the first round is over: shares stay as they are
}

// partitionSlack is what a share may take more than the first one did, beside a quarter, bytes.
const partitionSlack = 1 << 14

// maxRounds bounds how often a file system is gone through.
const maxRounds = 1 << 8

var (
	errAggBudget = errors.New("the sums of the whole file system take more memory than there is")
	// errElsewhere ends the search for a record that is judged in another round.
	errElsewhere = errors.New("the sum is not at hand in this round")
)

// A sumPage holds the sums of numbers near each other, such as inodes. One that is beyond it is in the table itself.
type sumPage [1 << sumPageShift]int32

const (
	sumPageShift = 5
	beyondPage   = math.MinInt32
	pageBytes    = 4<<sumPageShift + 32 // and its place in a map
)

// entryBytes is what a sum with a key takes that is not in a page.
func (t *sumTable) entryBytes() uint64 { return uint64(t.width)*24 + 16 + 16 }

func (t *sumTable) bytes() uint64 {
	return uint64(len(t.sums))*t.entryBytes() + uint64(len(t.pages))*pageBytes
}

// rounds is into how many shares the keys of the tables are divided, at most.
func (r *aggBudget) rounds() (n uint64) {
	n = 1
	for _, t := range r.tables {
		if !t.unfit {
			n = max(n, t.partitions)
		}
	}
	return n
}

// begin empties what is summed up anew in a round.
func (r *aggBudget) begin(round uint64) {
	if r.round = round; round == 0 {
		return
	}
	if !r.settled { // shares are alike, but not quite
		r.settled = true
		for _, t := range r.tables {
			r.free += t.bytes()/4 + partitionSlack
		}
	}
	for _, t := range r.tables {
		if t.partitions > 1 {
			r.free += t.bytes()
			clear(t.slots)
			clear(t.pages)
			t.keys, t.sums = t.keys[:0], t.sums[:0]
		}
	}
}

// holds makes room for so many bytes, if it can: the largest table keeps half of its keys then.
func (r *aggBudget) holds(n uint64) bool {
	for r.free < n && !r.settled {
		largest := r.tables[0]
		for _, t := range r.tables {
			if t.bytes() > largest.bytes() {
				largest = t
			}
		}
		if largest.partitions == maxRounds || largest.bytes() < n {
			return false
		}
		before := largest.bytes()
		largest.partitions *= 2
		largest.keepPartition()
		r.free += before - largest.bytes()
	}
	return r.free >= n
}

// partitionOf tells which share a key belongs to, by its low bits.
func (t *sumTable) partitionOf(key []value) uint64 {
	if t.paged(key) {
		return t.Mix(key[0].n>>sumPageShift, 1) >> 32
	}
	h := uint64(len(key))
	for _, c := range key {
		h = t.Mix(h, hashOf(t.Seeds, c))
	}
	return h >> 32
}

func (t *sumTable) atHand(share uint64) bool { return (share^t.budget.round)&(t.partitions-1) == 0 }

// keepPartition drops the keys of other shares.
func (t *sumTable) keepPartition() {
	for n := range t.pages {
		if !t.atHand(t.partitionOf([]value{numberValue(n << sumPageShift)})) {
			delete(t.pages, n)
		}
	}
	keys, sums := t.keys, t.sums
	t.keys, t.sums, t.slots = nil, nil, nil
	for i, n := range sums {
		key := keys[i*t.width : (i+1)*t.width]
		if !t.atHand(t.partitionOf(key)) {
			continue
		}
		if t.keys, t.sums = append(t.keys, key...), append(t.sums, n); 2*len(t.sums) > len(t.slots) {
			t.grow()
		} else {
			t.slots[t.slot(key)] = int32(len(t.sums))
		}
	}
}

// paged tells whether the sum of a key may be in a page.
func (t *sumTable) paged(key []value) bool { return len(key) == 1 && key[0].tag == tagNumber }

// account adds an amount to a sum over a stream; it reports false if it cannot.
func (t *sumTable) account(m *machine, key []value, n syntax.Number) bool {
	for _, c := range key {
		if !c.lasting() {
			t.unfit = true
			return false
		}
	}
	need := max(t.entryBytes(), pageBytes)
	if t.budget.free < need && !t.budget.holds(need) {
		t.unfit, t.why = true, errAggBudget
		return false
	}
	if t.partitions > 1 && !t.atHand(t.partitionOf(key)) {
		return true
	}
	if !t.paged(key) {
		return t.addEntry(m, key, n)
	}
	p := t.pages[key[0].n>>sumPageShift]
	if p == nil {
		if t.pages == nil {
			t.pages = map[uint64]*sumPage{}
		}
		p = new(sumPage)
		t.pages[key[0].n>>sumPageShift] = p
		t.budget.free -= pageBytes
	}
	at := &p[key[0].n%uint64(len(p))]
	sum := syntax.Number{Small: int64(*at)}
	if *at == beyondPage {
		return t.addEntry(m, key, n)
	}
	if sum = sum.Add(n); sum.Big == nil && sum.Small > beyondPage && sum.Small <= math.MaxInt32 {
		*at = int32(sum.Small)
		return true
	}
	*at = beyondPage
	return t.addEntry(m, key, sum)
}

func (t *sumTable) addEntry(m *machine, key []value, n syntax.Number) (ok bool) {
	known := len(t.sums)
	sum := t.at(key)
	if sum == nil {
		return false
	}
	if len(t.sums) > known {
		t.budget.free -= t.entryBytes()
	}
	*sum, ok = m.bounded(sum.Add(n))
	return ok
}

// inStream returns a sum over a stream.
func (t *sumTable) inStream(key []value) syntax.Number {
	if t.paged(key) {
		p := t.pages[key[0].n>>sumPageShift]
		if p == nil {
			return syntax.Number{}
		}
		if n := p[key[0].n%uint64(len(p))]; n != beyondPage {
			return syntax.Number{Small: int64(n)}
		}
	}
	return t.get(key)
}

// foreign tells whether a sum belongs to another round, and ends the search for the present record then. Records that
// ask for several sums have to find all of them in one round.
func (m *machine) foreign(t *sumTable, key []value) bool {
	s := m.streaming
	if t.partitions == 1 {
		return false
	}
	m.clause.partitioned = true
	share := t.partitionOf(key)
	switch {
	case t.atHand(share):
		s.asked = max(s.asked, t.partitions)
		return false
	case (share^s.sums.round)&(min(s.asked, t.partitions)-1) != 0:
		m.fail(errAggBudget)
	default:
		m.fail(errElsewhere)
	}
	return true
}

// A resumption is where a machine goes on with the next record after errElsewhere.
type resumption struct {
	frame                 *frame
	stack, depth, objects int
}

func (m *machine) resumption() resumption {
	return resumption{m.frame, len(m.stack), m.depth, len(m.objects)}
}

// resume goes on with the next record, if the present one is judged in another round.
func (m *machine) resume(at resumption) bool {
	if !errors.Is(m.err, errElsewhere) {
		return false
	}
	m.err = nil
	m.frame, m.stack, m.depth, m.objects = at.frame, m.stack[:at.stack], at.depth, m.objects[:at.objects]
	m.r = m.frame.registers
	return true
}
