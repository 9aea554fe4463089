package change

// A Stream is a transaction in which everything is new, and that is too large to be held: a whole file system. Its
// records come in parts, the same ones in the same order each time that they are asked for.
type Stream interface {
	// Each calls visit with each part, whose Records are valid during the call, and returns the first error. Records of
	// one object stand in one part. All parts share one Names, that of the View; when much has been put into it, it is
	// emptied between two parts: see Names.Emptied.
	Each(visit func(part *Txn) error) error
	// Len returns how many records there are.
	Len() int
	// Made tells whether there is a record of a field of a kind of object. A View answers more fields than have records.
	Made(k Kind, f Field) bool
	// Names are those of the parts and of the View.
	Names() *Names
}

// A Tally counts records that are not kept, for Stream.Len and Stream.Made. The zero value has none.
type Tally struct {
	count int
	made  [1 << 8][1 << 8]bool
}

// Add counts records.
func (t *Tally) Add(records []Record) {
	t.count += len(records)
	for i := range records {
		t.made[records[i].Object.Kind][records[i].Field] = true
	}
}

// Len is Stream.Len.
func (t *Tally) Len() int { return t.count }

// Made is Stream.Made.
func (t *Tally) Made(k Kind, f Field) bool { return t.made[k][f] }

const (
	// PartRecords is about how many records a part of a Stream has.
	PartRecords = 1 << 12
	// maxPartNames bounds the names and keys that are kept from part to part: some 10 MiB.
	maxPartNames = 1 << 16
)

// NextPart empties a part for the next records, and its names when they are many.
func (t *Txn) NextPart() {
	t.Records = t.Records[:0]
	if t.Names.Len()+len(t.Names.subs.subs) > maxPartNames {
		t.Names.Reset()
	}
}
