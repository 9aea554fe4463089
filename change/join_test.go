package change_test

import (
	"fmt"
	"slices"
	"testing"

	"fsward/change"
)

// TestTake checks that a transaction built in two parts and joined with Take has the same records
// and names as one built at once. The records of the second part are in separate memory, directly
// after the first part, or further behind in the same array.
func TestTake(t *testing.T) {
	record := func(txn *change.Txn, i int) {
		o := change.Object{ID: uint64(i), Kind: 1}
		name, key := fmt.Sprint("name", i%7), uint64(i%5)<<40
		txn.Add(o)
		txn.Append(change.Record{
			Object: o, Field: 1,
			Old: txn.Names.Intern([]byte(name)), New: change.Num(uint64(i)),
		})
		txn.Append(change.Record{
			Object: o, Field: 2,
			Old: txn.Names.Key(uint64(i), 1, 0), New: txn.Names.Key(9, 2, key),
		})
	}
	const objects = 20
	once := change.Txn{Names: change.NewNames()}
	for i := range objects {
		record(&once, i)
	}
	for first := range objects + 1 {
		// start is the index of the second part in the array of the first; 0 means another array.
		for _, start := range []int{0, 3 * first, 3*first + 1, 3*objects + 5} {
			whole := make([]change.Record, 0, 3*objects+20)
			txn := change.Txn{Names: change.NewNames(), Records: whole[:0:max(start, 3*first)]}
			other := change.Txn{Names: change.NewNames()}
			if start >= 3*first && start > 0 {
				other.Records = whole[start:start]
			}
			for i := range objects {
				if i < first {
					record(&txn, i)
				} else {
					record(&other, i)
				}
			}
			txn.Records = whole[:len(txn.Records)]
			txn.Take(&other)
			if !slices.Equal(txn.Records, once.Records) || txn.Names.Len() != once.Names.Len() ||
				txn.Names.Bytes() != once.Names.Bytes() {
				t.Errorf("%d objects in the first part, the second at %d: got\n%v\nwant\n%v",
					first, start, txn.Records, once.Records)
			}
		}
	}
}
