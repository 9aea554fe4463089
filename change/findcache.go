package change

// A FindCache keeps what Finder.Find found last for each kind, because rules ask for the same
// object several times. The zero value is empty. It is not safe for concurrent use, but a visitor
// may call it.
type FindCache struct{ last [1 << 8]*foundRecords }

// foundRecords are the records of the objects from lo to hi.
type foundRecords struct {
	lo, hi  Object
	emptied uint64 // Names.Emptied when they were found
	records []Record
}

// maxFound is the number of records up to which the result of a search is kept.
const maxFound = 1 << 8

// Find visits the records of the objects from lo to hi. search makes them if they are not kept. It
// may also make others; it ends when its visitor returns false.
func (c *FindCache) Find(names *Names, lo, hi Object, search func(func(*Record) bool) error,
	visit func(*Record) bool) error {
	// While the records are visited, another call may need the slot.
	slot := &c.last[lo.Kind]
	f := *slot
	*slot = nil
	if f != nil && f.emptied == names.Emptied() && f.lo == lo && f.hi == hi {
		for i := range f.records {
			if !visit(&f.records[i]) {
				break
			}
		}
		*slot = f
		return nil
	}
	if f == nil {
		f = &foundRecords{}
	}
	f.lo, f.hi, f.emptied, f.records = lo, hi, names.Emptied(), f.records[:0]
	all := true
	err := search(func(r *Record) bool {
		if r.Object.Compare(lo) < 0 || r.Object.Compare(hi) > 0 {
			return true
		}
		if all = all && len(f.records) < maxFound; all {
			f.records = append(f.records, *r)
		}
		more := visit(r)
		all = all && more
		return more
	})
	if all && err == nil {
		*slot = f
	}
	return err
}
