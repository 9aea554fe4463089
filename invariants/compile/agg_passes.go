package compile

import "fsward/invariants/syntax"

// A sumPass adds up a sum that is kept over a whole file system.
type sumPass struct {
	sum       *keptSum
	planner   *planner // set until the number of registers is known
	registers int
}

// remember keeps the sum of a key that was found in the state.
func (t *sumTable) remember(key []value, n syntax.Number) {
	for _, c := range key {
		if !c.lasting() || c.tag == tagName {
			return
		}
	}
	if len(t.sums) >= maxStateSums {
		t.empty()
	}
	if sum := t.at(key); sum != nil {
		*sum = n
	}
}

// maxStateSums bounds the sums that are kept between questions about neighboring objects.
const maxStateSums = 1 << 12

// remember keeps the result of a search.
func (k *keptSum) remember(m *machine, n syntax.Number) {
	if m.streaming == nil || !k.local {
		return
	}
	var buffer [maxSumKeys]value
	key := buffer[:0]
	for _, r := range k.keys {
		key = append(key, m.r[r.index])
	}
	m.aggregates.tables[k.table].remember(key, n)
}

// askStream is ask for a stream.
func (k *keptSum) askStream(m *machine, key []value) (n syntax.Number, ok bool) {
	t := m.aggregates.tables[k.table]
	switch {
	case k.local:
		return t.find(key)
	case t.unfit:
		if t.why == nil {
			t.why = streamError{"a sum over all changes whose keys do not last"}
		}
		m.fail(t.why)
		return n, false
	case m.streaming.summing || !t.built && m.streaming.of.Len() > 0:
		m.fail(streamError{"a sum inside a sum over all changes"})
		return n, false
	}
	if m.foreign(t, key) {
		return n, false
	}
	return t.inStream(key), true
}
