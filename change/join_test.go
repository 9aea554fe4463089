package change_test

import (
	"fmt"
	"slices"
	"testing"

	"fsward/change"
)

// A transaction that takes another's records is the one that would have been made at once: the same values under the same numbers.
func TestTake(t *testing.T) {
	record := func(txn *change.Txn, i int) {
		o := change.Object{ID: uint64(i), Kind: 1}
		name, key := fmt.Sprint("name", i%7), uint64(i%5)<<40
		txn.Add(o)
		txn.Append(change.Record{Object: o, Field: 1, Old: txn.Names.Intern([]byte(name)), New: change.Num(uint64(i))})
		txn.Append(change.Record{Object: o, Field: 2, Old: txn.Names.Key(uint64(i), 1, 0), New: txn.Names.Key(9, 2, key)})
	}
	const most = 20
	once := change.Txn{Names: change.NewNames()}
	for i := range most {
		record(&once, i)
	}
	for first := range most + 1 {
		for _, room := range []int{0, 3 * first, 3*first + 1, 3*most + 5} { // the second part lies elsewhere, at its place, or behind it
			whole := make([]change.Record, 0, 3*most+20)
			txn := change.Txn{Names: change.NewNames(), Records: whole[:0:max(room, 3*first)]}
			other := change.Txn{Names: change.NewNames()}
			if room >= 3*first && room > 0 {
				other.Records = whole[room:room]
			}
			for i := range most {
				if i < first {
					record(&txn, i)
				} else {
					record(&other, i)
				}
			}
			txn.Records = whole[:len(txn.Records)]
			txn.Take(&other)
			if !slices.Equal(txn.Records, once.Records) || txn.Names.Len() != once.Names.Len() || txn.Names.Bytes() != once.Names.Bytes() {
				t.Errorf("%d records, then the others, with room at %d: they differ:\n%v\n%v", first, room, txn.Records, once.Records)
			}
		}
	}
}
