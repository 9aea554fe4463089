package compile

import (
	"math/bits"
	"slices"

	"github.com/ichiban/prolog/engine"

	"fsward/invariants/syntax"
)

// arithmetic compiles expressions and comparisons of numbers.
type arithmetic struct{ interner *interner }

// errMistake stands for the error that the reference engine will report when it interprets the
// clause.
var errMistake = syntax.RuleError{Text: "a mistake in the rule"}

// An expression computes a number; ok is false after an error.
type expression func(m *machine) (n syntax.Number, ok bool)

// expression compiles an arithmetic expression; ok is false if a variable in it has no value, or if
// it is not an expression.
func (ar *arithmetic) expression(e *bindings, t template) (x expression, ok bool) {
	switch t := ar.fold(e, t).(type) {
	case constant:
		n, ok := ar.interner.number(value(t))
		return func(*machine) (syntax.Number, bool) { return n, true }, ok
	case register:
		i := t.index
		return func(m *machine) (syntax.Number, bool) {
			n, ok := m.number(m.r[i])
			if !ok {
				m.fail(errMistake)
			}
			return n, ok
		}, true
	case compoundTemplate:
		args := make([]expression, len(t.args))
		for i, a := range t.args {
			if args[i], ok = ar.expression(e, a); !ok {
				return nil, false
			}
		}
		switch len(args) {
		case 1:
			f := syntax.UnaryFunctions[t.functor]
			return unary(f, args[0]), f != nil
		case 2:
			f := syntax.BinaryFunctions[t.functor]
			return binary(f, args[0], args[1]), f != nil
		}
	}
	return nil, false
}

// fold computes an expression of numbers in the text, such as 1 << 63. It returns anything else
// unchanged, also an expression that errs: the error shows at run time.
func (ar *arithmetic) fold(e *bindings, t template) template {
	t = e.walk(t)
	c, ok := t.(compoundTemplate)
	if !ok {
		return t
	}
	var args [2]syntax.Number
	if len(c.args) > len(args) {
		return t
	}
	for i, a := range c.args {
		if args[i], ok = ar.literal(ar.fold(e, a)); !ok {
			return t
		}
	}
	var n syntax.Number
	if unary := syntax.UnaryFunctions[c.functor]; len(c.args) == 1 && unary != nil {
		n = unary(args[0])
	} else if binary := syntax.BinaryFunctions[c.functor]; len(c.args) == 2 && binary != nil {
		var err error
		if n, err = binary(args[0], args[1]); err != nil {
			return t
		}
	} else {
		return t
	}
	if n.Big != nil && n.Big.BitLen() > syntax.MaxNumberBits {
		return t
	}
	return constant(ar.interner.numberValue(n))
}

func unary(f func(syntax.Number) syntax.Number, x expression) expression {
	return func(m *machine) (syntax.Number, bool) {
		n, ok := x(m)
		if !ok {
			return n, false
		}
		return m.bounded(f(n))
	}
}

func binary(f func(x, y syntax.Number) (syntax.Number, error), x, y expression) expression {
	return func(m *machine) (syntax.Number, bool) {
		a, ok := x(m)
		if !ok {
			return a, false
		}
		b, ok := y(m)
		if !ok {
			return b, false
		}
		n, err := f(a, b)
		if err != nil {
			m.fail(errMistake)
			return n, false
		}
		return m.bounded(n)
	}
}

// A word is the sum of a number of the text and of up to two registers (−1 for none). Nearly all
// comparisons have this form.
type word struct {
	n    uint64
	x, y int
}

// wordOf returns an expression as a word; ok is false if it has another form.
func (ar *arithmetic) wordOf(e *bindings, t template) (w word, ok bool) {
	w = word{0, -1, -1}
	t = ar.fold(e, t)
	sum, isSum := t.(compoundTemplate)
	if isSum && sum.functor == atomPlus && len(sum.args) == 2 {
		return w, w.add(ar.fold(e, sum.args[0])) && w.add(ar.fold(e, sum.args[1]))
	}
	return w, w.add(t)
}

var atomPlus = engine.NewAtom("+")

// add adds a number or a register; it reports false for anything else, and for a sum of two
// numbers.
func (w *word) add(t template) bool {
	switch t := t.(type) {
	case constant:
		known := w.n != 0
		w.n = t.n
		return t.tag == tagNumber && !known
	case register:
		w.x, w.y = t.index, w.x
		return true
	default:
		return false
	}
}

// get returns the sum in 128 bits; ok is false if a register is not an unsigned number.
func (w *word) get(m *machine) (hi, lo uint64, ok bool) {
	lo, ok = w.n, true
	if w.x >= 0 {
		c := &m.r[w.x]
		lo, hi = bits.Add64(lo, c.n, 0)
		ok = c.tag == tagNumber
	}
	if w.y >= 0 {
		c := &m.r[w.y]
		sum, carry := bits.Add64(lo, c.n, 0)
		lo, hi = sum, hi+carry
		ok = ok && c.tag == tagNumber
	}
	return hi, lo, ok
}

// comparison compiles a comparison of two expressions; ok is false if they cannot be computed.
func (ar *arithmetic) comparison(e *bindings, left, right template,
	holds func(order int) bool) (op, bool) {
	x, ok1 := ar.expression(e, left)
	y, ok2 := ar.expression(e, right)
	if !ok1 || !ok2 {
		return nil, false
	}
	slow := func(m *machine) bool {
		a, ok := x(m)
		if !ok {
			return false
		}
		b, ok := y(m)
		return ok && holds(a.Cmp(b))
	}
	o := outcomes{holds(-1), holds(0), holds(1)}
	wx, ok1 := ar.wordOf(e, left)
	wy, ok2 := ar.wordOf(e, right)
	switch {
	case !ok1 || !ok2:
		return compareNumbersOp(slow), true
	case wx.n == 0 && wx.x >= 0 && wx.y < 0 && wy.x < 0:
		return compareRegisterOp(wx.x, wy.n, o, slow), true
	default:
		return compareWordsOp(wx, wy, o, slow), true
	}
}

// compareNumbersOp compares numbers of any size.
func compareNumbersOp(holds func(*machine) bool) op {
	return func(next step) step {
		return func(m *machine) bool {
			yes := holds(m)
			if m.err != nil {
				return true
			}
			return yes && next(m)
		}
	}
}

// outcomes says whether a comparison holds if the left side is below, equal to, or above the right
// one.
type outcomes struct{ below, equal, above bool }

// compareRegisterOp compares a register with a number of the text. slow is for numbers beyond 64
// bits.
func compareRegisterOp(register int, n uint64, o outcomes, slow func(*machine) bool) op {
	below, equal, above := o.below, o.equal, o.above
	return func(next step) step {
		return func(m *machine) bool {
			var yes bool
			switch c := &m.r[register]; {
			case c.tag != tagNumber:
				if yes = slow(m); m.err != nil {
					return true
				}
			case c.n == n:
				yes = equal
			case c.n < n:
				yes = below
			default:
				yes = above
			}
			return yes && next(m)
		}
	}
}

// compareWordsOp compares sums of unsigned numbers in 128 bits. slow is for any other numbers.
func compareWordsOp(x, y word, o outcomes, slow func(*machine) bool) op {
	below, equal, above := o.below, o.equal, o.above
	return func(next step) step {
		return func(m *machine) bool {
			var yes bool
			hi1, lo1, fast1 := x.get(m)
			hi2, lo2, fast2 := y.get(m)
			switch {
			case !fast1 || !fast2:
				if yes = slow(m); m.err != nil {
					return true
				}
			case hi1 == hi2 && lo1 == lo2:
				yes = equal
			case hi1 < hi2 || hi1 == hi2 && lo1 < lo2:
				yes = below
			default:
				yes = above
			}
			return yes && next(m)
		}
	}
}

// exact reports whether an expression cannot err, by the types of its variables.
func (a *analysis) exact(t template) bool {
	switch t := a.env.walk(t).(type) {
	case constant:
		return value(t).isNumber()
	case register:
		return t.typ.isNumber()
	case variable:
		return a.types[t].isNumber()
	case compoundTemplate:
		if len(t.args) == 2 && slices.Contains(partialFunctions, t.functor) {
			return a.exact(t.args[0]) && a.divisor(t.functor, t.args[1])
		}
		if len(t.args) == 1 && syntax.UnaryFunctions[t.functor] == nil ||
			len(t.args) == 2 && syntax.BinaryFunctions[t.functor] == nil || len(t.args) > 2 {
			return false
		}
		for _, x := range t.args {
			if !a.exact(x) {
				return false
			}
		}
		return true
	default:
		return false
	}
}

// partialFunctions are the functions that are not defined for every number.
var partialFunctions = []engine.Atom{engine.NewAtom("//"), engine.NewAtom("rem"),
	engine.NewAtom("div"), engine.NewAtom("mod"),
	engine.NewAtom("<<"), engine.NewAtom(">>")}

func (a *analysis) divisor(functor engine.Atom, t template) bool {
	c, ok := a.env.walk(t).(constant)
	if !ok || c.tag != tagNumber {
		return false
	}
	if shift := functor.String(); shift == "<<" || shift == ">>" {
		return c.n <= 64
	}
	return c.n != 0
}
