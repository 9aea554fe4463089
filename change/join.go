package change

import "sync"

// Take puts the records of another transaction, which has Names of its own, behind those of this one. The other must not be used
// any more: its records may lie in the same memory, at or behind where they go.
func (t *Txn) Take(other *Txn) {
	names, subs := t.Names.takeNames(other.Names)
	rename := func(records []Record) {
		for i := range records {
			records[i].Old.rename(names, subs)
			records[i].New.rename(names, subs)
		}
	}
	middle := len(other.Records) / 2
	var wg sync.WaitGroup
	wg.Go(func() { rename(other.Records[middle:]) })
	rename(other.Records[:middle])
	wg.Wait()
	t.Records = append(t.Records, other.Records...) // as one, in whichever direction they overlap
}

// rename gives a value the number of its name, or of the last part of its key, in another table.
func (v *Value) rename(names, subs []uint32) {
	switch {
	case v.tag == Name:
		v.n = uint64(names[v.n])
	case v.tag == Key && v.ref != 0:
		v.ref = subs[v.ref-1]
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
