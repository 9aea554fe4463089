package exploretest_test

import (
	"context"
	"fmt"
	"os"

	"fsward/explore"
	"fsward/explore/exploretest"
)

// The explorer finds a known bug of a Toy on a simulated machine: sync writes, and does not flush.
func ExampleNewToy() {
	dir, err := os.MkdirTemp("", "fsward-toy-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	machine := exploretest.New()
	found, err := explore.Run(context.Background(), explore.Config{
		System: machine, Dir: dir, Depth: 2,
		Stack: explore.Stack{
			Top:     exploretest.NewToy(machine, exploretest.DroppedFlush),
			Checker: &exploretest.ToyChecker{Keys: 1, Values: 1},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range found.Errors {
		fmt.Printf("%s: %s\n", e.Kind, e.Summary)
		for i, step := range e.Did {
			fmt.Printf("step %d: %s\n", i+1, step[0]) // its first action
		}
	}
	// Output:
	// synced byte lost: key 0 has 0, want 1
	// step 1: toy put 0 1
	// step 2: toy sync
}
