package change

// Take puts the records of another transaction, which has Names of its own, behind those of this one. The other must not be used
// any more: its records may lie in the same memory, at or behind where they go.
func (t *Txn) Take(other *Txn) {
	names, subs := t.Names.takeNames(other.Names)
	rename := func(v *Value) {
		switch {
		case v.tag == Name:
			v.n = uint64(names[v.n])
		case v.tag == Key && v.ref != 0:
			v.ref = subs[v.ref-1]
		}
	}
	at := len(t.Records)
	if n := at + len(other.Records); n <= cap(t.Records) {
		t.Records = t.Records[:n]
	} else {
		t.Records = append(t.Records, other.Records...)
	}
	for i := range other.Records {
		r := other.Records[i]
		rename(&r.Old)
		rename(&r.New)
		t.Records[at+i] = r
	}
}

// takeNames adds what another table has, and returns by its indexes the handles of the names and the refs of the keys here.
func (t *Names) takeNames(other *Names) (names, subs []uint32) {
	names, subs = make([]uint32, len(other.names)), make([]uint32, len(other.subs.subs))
	for i, name := range other.names {
		at, ok := t.name([]byte(name))
		if !ok {
			at = t.add(name)
		}
		names[i] = at
	}
	for i, sub := range other.subs.subs {
		subs[i] = t.refOf(sub)
	}
	return names, subs
}
