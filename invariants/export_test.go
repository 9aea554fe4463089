package invariants

// EagerSums makes the compiled engine keep sums from the first question on, as small transactions would seldom
// come to it.
func EagerSums(o Options) Options {
	o.eagerSums = true
	return o
}
