package fsynccheck_test

import (
	"fmt"

	"fsward/hostd/daemon/fsynccheck"
)

// A call as fswcalls reports it: thread 12 ran fsync from 100 to 200 ns and wrote sectors 8 to 15
// at 110 ns.
func ExampleCall_String() {
	call := fsynccheck.Call{Name: "fsync", Thread: 12, Began: 100, Returned: 200,
		Wrote: []fsynccheck.Range{{Dev: "254,0", Sector: 8, Sectors: 8, At: 110}}}
	fmt.Println(call.String())
	// Output: call fsync 12 100 200 254,0:8+8@10
}
