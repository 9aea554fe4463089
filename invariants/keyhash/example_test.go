package keyhash_test

import (
	"fmt"

	"fsward/invariants/keyhash"
)

// Consecutive ids have neighboring slots in a table, whatever the seeds are.
func ExampleSeeds_Near() {
	seeds := keyhash.New()
	first := seeds.Near(256, 0)
	for id := uint64(257); id < 260; id++ {
		fmt.Println(id, seeds.Near(id, 0)%1024-first%1024)
	}
	// Output:
	// 257 1
	// 258 2
	// 259 3
}
