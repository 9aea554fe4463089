package change

import "sync"

// Take appends the records of another transaction, which has its own Names, to those of t. The
// caller must not use other afterwards: Take overwrites its records. The records of other may be in
// the same array as those of t, at or after the position to which Take moves them.
func (t *Txn) Take(other *Txn) {
	names, subs := t.Names.merge(other.Names)
	remap := func(records []Record) {
		for i := range records {
			records[i].Old.remap(names, subs)
			records[i].New.remap(names, subs)
		}
	}
	middle := len(other.Records) / 2
	var wg sync.WaitGroup
	wg.Go(func() { remap(other.Records[middle:]) })
	remap(other.Records[:middle])
	wg.Wait()
	t.Records = append(t.Records, other.Records...) // append handles overlapping slices
}

// remap replaces the index of a name, or of the last part of a key, by its index in another table.
func (v *Value) remap(names, subs []uint32) {
	switch {
	case v.tag == Name:
		v.n = uint64(names[v.n])
	case v.tag == Key && v.ref != 0:
		v.ref = subs[v.ref-1]
	}
}

// merge adds the names and the last parts of keys of another table. It maps their indexes in the
// other table: names to the handles of names in t, and subs to the values of Value.ref in t.
func (t *Names) merge(other *Names) (names, subs []uint32) {
	names = make([]uint32, len(other.names.entries))
	subs = make([]uint32, len(other.subs.subs))
	var name []byte
	for i := range names {
		name = append(name[:0], other.names.at(uint32(i))...)
		names[i] = uint32(t.Handle(name))
	}
	for i, sub := range other.subs.subs {
		subs[i] = t.refOf(sub)
	}
	return names, subs
}
