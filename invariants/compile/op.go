package compile

import (
	"github.com/ichiban/prolog/engine"

	"fsward/invariants/syntax"
)

// An op makes the step of a goal, given the next step.
type op func(next step) step

// stepInfo is the text of a step in error messages.
type stepInfo struct{ goal string }

// sequence makes one step of several ops.
func sequence(ops []op, next step) step {
	for i := len(ops) - 1; i >= 0; i-- {
		next = ops[i](next)
	}
	return next
}

// foundIt ends a search for one solution.
func foundIt(*machine) bool { return true }

func failOp(step) step { return func(*machine) bool { return false } }

// testOp continues if a condition holds.
func testOp(holds func(m *machine) bool) op {
	return func(next step) step {
		return func(m *machine) bool { return holds(m) && next(m) }
	}
}

// notOp is negation: it continues if the search has no solution.
func notOp(search []op) op {
	inner := sequence(search, foundIt)
	return func(next step) step {
		return func(m *machine) bool {
			if inner(m) {
				return m.err != nil
			}
			return next(m)
		}
	}
}

// onceOp continues with the first solution.
func onceOp(search []op) op {
	inner := sequence(search, foundIt)
	return func(next step) step {
		return func(m *machine) bool {
			if !inner(m) {
				return false
			}
			return m.err != nil || next(m)
		}
	}
}

// thenOp is if-then-else: each branch contains all that follows.
func thenOp(condition, then, otherwise []op) op {
	inner := sequence(condition, foundIt)
	return func(next step) step {
		yes, no := sequence(then, next), sequence(otherwise, next)
		return func(m *machine) bool {
			if inner(m) {
				return m.err != nil || yes(m)
			}
			return no(m)
		}
	}
}

// orOp tries the branches one after the other.
func orOp(branches [][]op) op {
	return func(next step) step {
		steps := make([]step, len(branches))
		for i, b := range branches {
			steps[i] = sequence(b, next)
		}
		if len(steps) == 2 {
			first, second := steps[0], steps[1]
			return func(m *machine) bool { return first(m) || second(m) }
		}
		return func(m *machine) bool {
			for _, s := range steps {
				if s(m) {
					return true
				}
			}
			return false
		}
	}
}

// computeOp puts the value of an expression into a register.
func computeOp(x expression, register int) op {
	return func(next step) step {
		return func(m *machine) bool {
			n, ok := x(m)
			if !ok {
				return true
			}
			m.r[register] = m.numberValue(n)
			return next(m)
		}
	}
}

// An operand makes a value from registers.
type operand func(m *machine) value

// assignOp puts values into registers.
func assignOp(registers []int, values []operand) op {
	return func(next step) step {
		return func(m *machine) bool {
			for i, v := range values {
				m.r[registers[i]] = v(m)
			}
			return next(m)
		}
	}
}

// openOp takes the compound in a register apart.
func openOp(from int, functor engine.Atom, first, n int) op {
	return func(next step) step {
		return func(m *machine) bool {
			return m.open(m.r[from], functor, m.r[first:first+n]) && next(m)
		}
	}
}

// betweenOp is between/3.
func betweenOp(low, high expression, x place, info *stepInfo) op {
	return func(next step) step {
		return func(m *machine) bool {
			lo, ok := low(m)
			if !ok {
				return m.err != nil
			}
			hi, ok := high(m)
			if !ok {
				return m.err != nil
			}
			for ; lo.Cmp(hi) <= 0; lo = lo.Add(syntax.Number{Small: 1}) {
				if m.row(info) || x.match(m, m.numberValue(lo)) && next(m) {
					return true
				}
			}
			return false
		}
	}
}
