package compile

import "fsward/change"

// A call is a call of a recursive helper.
type call struct {
	*procedure
	ins     []operand
	results []int  // registers of the caller
	number  uint64 // by which the memo knows the procedure
	info    *stepInfo
}

// each calls a procedure and continues with each of its solutions.
func (c *call) each(next step) step {
	then := func(m *machine) bool {
		c.take(m)
		return next(m)
	}
	return func(m *machine) bool { return c.run(m, then) }
}

// take puts the results of the last return into the caller's registers.
func (c *call) take(m *machine) {
	for i, r := range c.results {
		m.r[r] = m.returned[i]
	}
}

// run calls a procedure; then continues after each return, in the frame of the caller.
func (c *call) run(m *machine, then step) (stop bool) {
	if m.row(c.info) {
		return true
	}
	if m.depth >= m.options.MaxDepth {
		return m.fail(errMistake)
	}
	caller, top := m.frame, len(m.stack)
	f := m.push(c.registers, caller, then)
	for i, v := range c.procedure.ins {
		f.registers[v] = c.ins[i](m)
	}
	m.depth++
	m.frame, m.r = f, f.registers
	stop = c.first(m)
	m.frame, m.r = caller, caller.registers
	m.depth--
	m.stack = m.stack[:top]
	m.free(f)
	return stop
}

// returnOp continues in the frame of the caller.
func returnOp(proc *procedure) op {
	return func(step) step {
		return func(m *machine) bool {
			f := m.frame
			for i, r := range proc.outs {
				m.returned[i] = f.registers[r]
			}
			m.frame, m.r = f.caller, f.caller.registers
			stop := f.then(m)
			m.frame, m.r = f, f.registers
			return stop
		}
	}
}

// worthKeeping is the number of rows from which the answer of a call is kept.
const worthKeeping = 8

// once continues with the first solution of a call. A call that took long is answered from the memo
// the next time: helpers have no side effects.
func (c *call) once(next step) step {
	found := func(m *machine) bool {
		c.take(m)
		return true
	}
	return func(m *machine) bool {
		var words [1 + 3*maxArity]uint64
		key, lasts := append(words[:0], c.number), true
		for _, v := range c.ins {
			var fixed bool
			key, fixed = m.appendValue(key, v(m))
			lasts = lasts && fixed
		}
		if lasts {
			if answer, ok := m.answers.answer(key); ok {
				return m.row(c.info) || c.recall(m, answer) && next(m)
			}
		}
		before := m.rows
		has := c.run(m, found)
		if m.err != nil {
			return true
		}
		if lasts && m.rows-before > worthKeeping {
			c.keep(m, key, has)
		}
		return has && next(m)
	}
}

// keep adds an answer to the memo: a word that says whether there is one, and the results.
func (c *call) keep(m *machine, key []uint64, has bool) {
	var words [1 + 3*maxArity]uint64
	answer, lasts := words[:1], true
	if has {
		answer[0] = 1
		answer, lasts = m.appendValues(answer, c.results)
	}
	if lasts {
		m.answers.add(key, answer...)
	}
}

// recall puts a kept answer into the caller's registers; it reports whether there is one.
func (c *call) recall(m *machine, answer []uint64) bool {
	if answer[0] == 0 {
		return false
	}
	for i, r := range c.results {
		w := answer[1+3*i:]
		m.r[r] = value{n: w[0], m: w[1], tag: valueTag(w[2] >> 8), kind: change.Kind(w[2])}
	}
	return true
}
