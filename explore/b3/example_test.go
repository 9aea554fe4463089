package b3_test

import (
	"fmt"

	"fsward/explore/b3"
)

// A set numbers its workloads.
func ExampleSet_At() {
	set, err := b3.Decode([]byte(`
length: 1
first: [foo]
second: [bar]
operations:
  - {op: creat}
  - {op: link, names: first}
persist: used
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for rank := range set.Count() {
		w, err := set.At(rank)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%d: %s\n", rank, w)
	}
	// Output:
	// 0: creat foo; fsync foo
	// 1: creat foo; sync
	// 2: link foo bar; fsync foo
	// 3: link foo bar; fsync bar
	// 4: link foo bar; sync
}
