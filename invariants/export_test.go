package invariants

import "fsward/invariants/ruleset"

// EagerSums makes the compiled engine keep sums from the first question on, which small
// transactions would seldom reach.
func EagerSums(o ruleset.Options) ruleset.Options {
	o.EagerSums = true
	return o
}

// Parallel makes the compiled engine judge every transaction by two workers, even small ones.
func Parallel(o ruleset.Options) ruleset.Options {
	o.ParallelFrom = 1
	return o
}
