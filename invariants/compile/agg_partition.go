package compile

import (
	"errors"
	"math"

	"fsward/invariants/syntax"
)

// A sum over a whole file system can have a key for each file. If the sums do not fit the memory, a
// table keeps one partition of its keys, by their hash, and the file system is gone through again
// for each other partition. A record is judged in the round that has the partition of the first sum
// that its rule asks for.

// An aggBudget is the memory for sums over a stream, and the tables that share it.
type aggBudget struct {
	free    uint64 // in bytes
	tables  []*sumTable
	round   uint64 // determines which partitions are present
	settled bool   // the first round is over: the number of partitions is final
}

// partitionSlack is the memory, in bytes, that a partition may take beyond the first one and a
// quarter more.
const partitionSlack = 1 << 14

// maxRounds bounds the number of passes over a file system.
const maxRounds = 1 << 8

var (
	errAggBudget = errors.New("the sums over the whole file system need more memory than is available")
	// errElsewhere ends the search for a record that another round judges.
	errElsewhere = errors.New("the sum is not at hand in this round")
)

// A sumPage holds the sums of adjacent numbers, such as inodes. A sum that does not fit is in the
// table itself.
type sumPage [1 << sumPageShift]int32

const (
	sumPageShift = 5
	beyondPage   = math.MinInt32
	pageBytes    = 4<<sumPageShift + 32 // including its entry in a map
)

// entryBytes returns the memory of a sum that is not in a page.
func (t *sumTable) entryBytes() uint64 { return uint64(t.width)*24 + 16 + 16 }

func (t *sumTable) bytes() uint64 {
	return uint64(len(t.sums))*t.entryBytes() + uint64(len(t.pages))*pageBytes
}

// rounds returns the largest number of partitions of a table.
func (r *aggBudget) rounds() (n uint64) {
	n = 1
	for _, t := range r.tables {
		if !t.unfit {
			n = max(n, t.partitions)
		}
	}
	return n
}

// begin empties the tables that are summed up anew in a round.
func (r *aggBudget) begin(round uint64) {
	if r.round = round; round == 0 {
		return
	}
	if !r.settled { // partitions are nearly equal in size, but not quite
		r.settled = true
		for _, t := range r.tables {
			r.free += t.bytes()/4 + partitionSlack
		}
	}
	for _, t := range r.tables {
		if t.partitions > 1 {
			r.free += t.bytes()
			t.empty()
			clear(t.pages)
			t.pageLast = nil
		}
	}
}

// holds makes room for n bytes by halving the keys of the largest table; it reports false if it
// cannot.
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

// partitionOf returns the partition of a key, in its low bits.
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

// atHand reports whether the present round has a partition of the keys.
func (t *sumTable) atHand(partition uint64) bool {
	return (partition^t.budget.round)&(t.partitions-1) == 0
}

// keepPartition removes the keys of other partitions.
func (t *sumTable) keepPartition() {
	t.pageLast = nil
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

// paged reports whether the sum of a key may be in a page.
func (t *sumTable) paged(key []value) bool { return len(key) == 1 && key[0].tag == tagNumber }

// page returns the page with the sum of a number; nil if there is none.
func (t *sumTable) page(n uint64) *sumPage {
	at := n >> sumPageShift
	if t.pageLast == nil || t.pageAt != at {
		p := t.pages[at]
		if p == nil {
			return nil
		}
		t.pageAt, t.pageLast = at, p
	}
	return t.pageLast
}

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
	p := t.page(key[0].n)
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
		p := t.page(key[0].n)
		if p == nil {
			return syntax.Number{}
		}
		if n := p[key[0].n%uint64(len(p))]; n != beyondPage {
			return syntax.Number{Small: int64(n)}
		}
	}
	return t.get(key)
}

// foreign reports whether a sum belongs to another round, and then ends the search for the current
// record. A record that asks for several sums must find all of them in one round.
func (m *machine) foreign(t *sumTable, key []value) bool {
	s := m.streaming
	if t.partitions == 1 {
		return false
	}
	m.clause.partitioned = true
	partition := t.partitionOf(key)
	switch {
	case t.atHand(partition):
		s.partitions = max(s.partitions, t.partitions)
		return false
	case (partition^s.sums.round)&(min(s.partitions, t.partitions)-1) != 0:
		m.fail(errAggBudget)
	default:
		m.fail(errElsewhere)
	}
	return true
}

// A resumption is the state from which a machine continues with the next record after errElsewhere.
type resumption struct {
	frame                 *frame
	stack, depth, objects int
}

func (m *machine) resumption() resumption {
	return resumption{m.frame, len(m.stack), m.depth, len(m.objects)}
}

// resume continues with the next record, if another round judges the current one.
func (m *machine) resume(at resumption) bool {
	if !errors.Is(m.err, errElsewhere) {
		return false
	}
	m.err = nil
	m.frame, m.stack, m.depth, m.objects = at.frame, m.stack[:at.stack], at.depth,
		m.objects[:at.objects]
	m.r = m.frame.registers
	return true
}
