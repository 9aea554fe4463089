package compile

// wholeOp goes on if the transaction adds everything that a file system has.
func wholeOp(next step) step {
	return func(m *machine) bool { return m.whole && next(m) }
}
