package ext3

import (
	"errors"
	"slices"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

const (
	// maxRecords bounds the records of a transaction: about 600 MB. Beyond it a commit is
	// undecided.
	maxRecords = 8 << 20
	// maxBeside bounds the memory of a comparison besides its records, bytes.
	maxBeside = 1 << 29
	// maxFaults is the maximum number of structure violations that are reported for one write.
	maxFaults = 100
	// maxExpected bounds the initial capacity in records: 5 MB.
	maxExpected = 1 << 16
)

var errTooMany = errors.New("ext3: the transaction has more than 8,388,608 change records")

// records collects the findings of a comparison: change records, within a memory budget, and faults
// of the structure.
type records struct {
	txn    *change.Txn
	memory *interp.MemoryBudget
	beside func() uint64 // memory that the comparison takes besides records, bytes
	faults []change.Violation
	parts  *parts // nil: all records are kept
}

// parts takes the records if they are not all kept.
type parts struct {
	take    func(*change.Txn) error // takes the records part by part; may be nil
	drop    bool                    // if memory runs out, count and drop the records
	dropped bool                    // records have been dropped
	tally   change.Tally            // of the dropped records
}

// partial reports whether the records are handed on part by part.
func (p *parts) partial() bool { return p != nil && (p.take != nil || p.dropped) }

// fault adds a violation of the structure.
func (r *records) fault(v change.Violation) {
	if len(r.faults) < maxFaults {
		r.faults = append(r.faults, v)
	}
}

// object appends the records of an object: one for the object itself, and one for each field that
// changed or is in always. before and after are nil if the object does not exist in that state.
func (r *records) object(o change.Object, fields []change.Field, before,
	after func(change.Field) change.Value, always ...change.Field) {
	at := len(r.txn.Records)
	r.txn.Append(change.Record{}) // filled in below, if there is a difference
	for _, f := range fields {
		var rec change.Record
		rec.Object, rec.Field = o, f
		if before != nil {
			rec.Old = before(f)
		}
		if after != nil {
			rec.New = after(f)
		}
		if rec.Old != rec.New || !rec.New.IsNull() && slices.Contains(always, f) {
			r.txn.Append(rec)
		}
	}
	rec := change.Record{Object: o, Field: change.FieldObject}
	if before != nil {
		rec.Old = change.Present
	}
	if after != nil {
		rec.New = change.Present
	}
	if rec.Old == rec.New && len(r.txn.Records) == at+1 {
		r.txn.Records = r.txn.Records[:at]
		return
	}
	r.txn.Records[at] = rec
}

// inodeBit makes the records of a bit in the inode bitmap of a group.
func (r *records) inodeBit(ino, g uint32, set bool) {
	o := change.Object{Kind: ondisk.KindInodeBit, ID: uint64(ino)}
	rec := change.Record{Object: o, Field: ondisk.FieldInodeGroup}
	if set {
		r.txn.Add(o)
		rec.New = change.Num(uint64(g))
	} else {
		r.txn.Delete(o)
		rec.Old = change.Num(uint64(g))
	}
	r.txn.Append(rec)
}

// tooMany returns an error if there is no memory for more records. At the end of the capacity it
// moves the records to a slice with half as much again. append alone would move each of a million
// records four times.
func (r *records) tooMany() error {
	if r.parts.partial() {
		if err := r.holds(r.beside()); err != nil {
			return err
		}
		return r.handOn(change.PartRecords)
	}
	if n := len(r.txn.Records); n > maxExpected/4 &&
		cap(r.txn.Records)-n < 2*len(ondisk.InodeRecordFields) {
		r.txn.Records = interp.MoveRecords(r.txn.Records, n+n/2)
	}
	full := r.full(len(r.txn.Records))
	if full != nil && r.parts != nil && r.parts.drop {
		return r.drop()
	}
	return full
}

// freeBytes is the memory in bytes that a comparison may take besides its records in any case.
const freeBytes = 1 << 20

// holds returns an error if the budget does not suffice for a number of bytes besides the records.
func (r *records) holds(beside uint64) error {
	if beside > freeBytes && !r.memory.Holds(beside) {
		return r.memory.Full()
	}
	return nil
}

// drop begins to count and drop the records.
func (r *records) drop() error {
	r.parts.dropped = true
	return r.handOn(0)
}

// expect makes room for about n more records at once. If the budget does not allow them, and
// records may be dropped, it drops them now: it would have to do so in the end.
func (r *records) expect(n int) error {
	all := len(r.txn.Records) + n
	switch {
	case all <= cap(r.txn.Records) || r.parts.partial():
	case r.full(all) == nil:
		r.txn.Records = interp.MoveRecords(r.txn.Records, all)
	case r.parts != nil && r.parts.drop:
		return r.drop()
	}
	return nil
}

// full returns an error if n records are too many.
func (r *records) full(n int) error {
	beside := r.beside()
	if n > maxRecords || beside > maxBeside {
		return errTooMany
	}
	if !r.memory.Holds(uint64(n)*interp.RecordBytes + r.txn.Names.Bytes() + beside) {
		return r.memory.Full()
	}
	return nil
}

// handOn hands the records to parts.take, or counts and drops them, if there are more than least.
func (r *records) handOn(least int) error {
	if len(r.txn.Records) <= least {
		return nil
	}
	if r.parts.take != nil {
		defer r.txn.NextPart()
		return r.parts.take(r.txn)
	}
	r.parts.tally.Add(r.txn.Records)
	if cap(r.txn.Records) > 2*change.PartRecords {
		r.txn.Records = nil // do not keep the memory from when records were kept
	}
	r.txn.NextPart()
	return nil
}
