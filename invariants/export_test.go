package invariants

import "fsward/invariants/ruleset"

// EagerSums makes the compiled engine keep sums from the first question on, as small transactions would seldom
// come to it.
func EagerSums(o ruleset.Options) ruleset.Options {
	o.EagerSums = true
	return o
}

// Parallel makes the compiled engine judge every transaction by two goroutines, as small ones would never be.
func Parallel(o ruleset.Options) ruleset.Options {
	o.ParallelFrom = 1
	return o
}
