package compile

// verifyOp is verify/1 with its memory: it continues if the property does not hold.
func verifyOp(search []op, property uint64, registers []register) op {
	inner := sequence(search, foundIt)
	var words, others []int
	for _, r := range registers {
		if r.typ == typeWord {
			words = append(words, r.index)
		} else {
			others = append(others, r.index)
		}
	}
	return func(next step) step {
		return func(m *machine) bool {
			buffer := [1 + 3*maxVerified]uint64{property}
			for i, r := range words {
				buffer[1+i] = m.r[r].n
			}
			key, ok := buffer[:1+len(words)], true
			if len(others) > 0 {
				key, ok = m.appendValues(key, others)
			}
			if ok && m.memo.has(key) {
				return false
			}
			if !inner(m) {
				return next(m)
			}
			if m.err == nil && ok {
				m.memo.add(key)
			}
			return m.err != nil
		}
	}
}

// maxVerified bounds the registers that a property depends on, so that its key fits a buffer.
const maxVerified = 4
