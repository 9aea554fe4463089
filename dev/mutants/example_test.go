package mutants_test

import (
	"fmt"

	"fsward/dev/mutants"
	"fsward/invariants"
)

// Each mutant weakens the rule in one place.
func ExampleMutants() {
	rule := "violation(1, T, I) :- new(T, I, size, N), N > 4096.\n"
	for _, m := range mutants.Mutants([]invariants.File{{Name: "size.pl", Text: []byte(rule)}}) {
		fmt.Println(m)
	}
	// Output:
	// 1 clause 1: removed
	// 1 clause 1: without new(T, I, size, N)
	// 1 clause 1: without N > 4096
	// 1 clause 1: N > 4096 becomes N >= 4096
	// 1 clause 1: N > 4096 becomes N > 4097
}
