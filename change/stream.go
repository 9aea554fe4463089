package change

// A Stream is a transaction that is too large for memory. It delivers its records in parts. Unless
// it is a Finder, it adds all objects of a whole file system.
type Stream interface {
	// Each calls visit for each part and returns the first error. The parts are the same and in the
	// same order for each call of Each. The Records of a part are valid during the call of visit. All
	// records of an object are in one part. All parts and the View share one Names. Each resets it
	// between two parts when it has become large: see Names.Emptied.
	Each(visit func(part *Txn) error) error
	// Len returns the number of records.
	Len() int
	// Made reports whether there is a record of a field of a kind of object. The View may have values
	// of fields without records.
	Made(k Kind, f Field) bool
	// Names returns the names of the parts and of the View.
	Names() *Names
}

// A Finder is a Stream of a commit. Find returns the records of given objects. Unless it is a
// TreeFinder, a Stream of a whole file system needs no Find: all of its objects are new, and the
// View has them.
type Finder interface {
	Stream
	// Find visits the records of the objects from lo to hi in their order, until visit returns false.
	// lo and hi are as those of View.Scan. A record is valid during the call of visit, which may call
	// Find.
	Find(lo, hi Object, visit func(*Record) bool) error
	// Work bounds the judgment of the commit; it may be nil.
	Work() *Work
}

// A TreeFinder is a Stream of a whole file system in which some trees are compared with others, as
// in a commit. The other trees are new: the View has their objects.
type TreeFinder interface {
	Finder
	// New reports whether everything in a tree is new. Find is called for the other trees only.
	New(tree uint64) bool
}

// A Tally counts records that are not kept. It implements Stream.Len and Stream.Made. The zero
// value is empty.
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

// Len returns the number of records.
func (t *Tally) Len() int { return t.count }

// Made reports whether a record of a field of a kind of object was added.
func (t *Tally) Made(k Kind, f Field) bool { return t.made[k][f] }

const (
	// PartRecords is the approximate number of records in a part of a Stream.
	PartRecords = 1 << 12
	// maxPartNames is the largest number of names and keys that NextPart keeps. They take about 30
	// MiB. The names of one inode, of which Btrfs allows 65,535 (BTRFS_LINK_MAX), fit twice over:
	// otherwise the View would read all of them again for each part.
	maxPartNames = 1 << 18
)

// NextPart removes the records of a part, so that t can be used for the next part. It also resets
// Names if they have become many.
func (t *Txn) NextPart() {
	t.Records = t.Records[:0]
	if t.Names.Len()+len(t.Names.subs.subs) > maxPartNames {
		t.Names.Reset()
	}
}
