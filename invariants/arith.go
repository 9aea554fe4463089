package invariants

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/ichiban/prolog/engine"
)

// A ruleError is a mistake that shows when a rule runs: a comparison of what is no number, a primitive
// called in a mode that it does not have. It makes the rule undecided, whatever the rule would have said.
type ruleError struct{ text string }

func (e ruleError) Error() string { return e.text }

func errorf(format string, args ...any) error { return ruleError{fmt.Sprintf(format, args...)} }

// The functions of arithmetic, as ISO Prolog names them. There is no (/)/2: it means different things in
// different Prologs; // truncates, div rounds down.
var (
	binaryFunctions = map[engine.Atom]func(x, y number) (number, error){
		engine.NewAtom("+"):   func(x, y number) (number, error) { return x.add(y), nil },
		engine.NewAtom("-"):   func(x, y number) (number, error) { return x.sub(y), nil },
		engine.NewAtom("*"):   func(x, y number) (number, error) { return x.mul(y), nil },
		engine.NewAtom("//"):  divider((*big.Int).Quo, quotient),
		engine.NewAtom("rem"): divider((*big.Int).Rem, remainder),
		engine.NewAtom("div"): divider(floorDiv, quotient),
		engine.NewAtom("mod"): divider(floorMod, remainder),
		engine.NewAtom(`/\`):  bitwise((*big.Int).And, func(x, y int64) int64 { return x & y }),
		engine.NewAtom(`\/`):  bitwise((*big.Int).Or, func(x, y int64) int64 { return x | y }),
		engine.NewAtom("xor"): bitwise((*big.Int).Xor, func(x, y int64) int64 { return x ^ y }),
		engine.NewAtom("<<"):  func(x, y number) (number, error) { return shift(x, y, 1) },
		engine.NewAtom(">>"):  func(x, y number) (number, error) { return shift(x, y, -1) },
		engine.NewAtom("min"): func(x, y number) (number, error) { return pick(x, y, x.cmp(y) <= 0), nil },
		engine.NewAtom("max"): func(x, y number) (number, error) { return pick(x, y, x.cmp(y) >= 0), nil },
	}
	unaryFunctions = map[engine.Atom]func(x number) number{
		engine.NewAtom("-"):   func(x number) number { return number{}.sub(x) },
		engine.NewAtom("+"):   func(x number) number { return x },
		engine.NewAtom(`\`):   func(x number) number { return number{big: new(big.Int).Not(x.wide())} },
		engine.NewAtom("abs"): func(x number) number { return pick(x, number{}.sub(x), x.sign() >= 0) },
	}
)

func pick(x, y number, first bool) number {
	if first {
		return x
	}
	return y
}

func quotient(x, y int64) int64  { return x / y }
func remainder(x, y int64) int64 { return x % y }

// divider makes a division; small is the same for numbers that fit and of which none is negative.
func divider(f func(z, x, y *big.Int) *big.Int, small func(x, y int64) int64) func(x, y number) (number, error) {
	return func(x, y number) (number, error) {
		if y.sign() == 0 {
			return number{}, errorf("division by zero")
		}
		if x.big == nil && y.big == nil && x.small >= 0 && y.small > 0 {
			return number{small: small(x.small, y.small)}, nil
		}
		return number{big: f(new(big.Int), x.wide(), y.wide())}, nil
	}
}

// bitwise makes a function of two numbers; small is the same for those that fit, as both are two's complement.
func bitwise(f func(z, x, y *big.Int) *big.Int, small func(x, y int64) int64) func(x, y number) (number, error) {
	return func(x, y number) (number, error) {
		if x.big == nil && y.big == nil {
			return number{small: small(x.small, y.small)}, nil
		}
		return number{big: f(new(big.Int), x.wide(), y.wide())}, nil
	}
}

// floorDiv and floorMod are ISO's div and mod: big's own Div and Mod round by the divisor's sign.
func floorDiv(z, x, y *big.Int) *big.Int {
	r := new(big.Int)
	z.QuoRem(x, y, r)
	if r.Sign() != 0 && r.Sign() != y.Sign() {
		z.Sub(z, big.NewInt(1))
	}
	return z
}

func floorMod(z, x, y *big.Int) *big.Int {
	z.Rem(x, y)
	if z.Sign() != 0 && z.Sign() != y.Sign() {
		z.Add(z, y)
	}
	return z
}

// shift shifts left by sign·y bits.
func shift(x, y number, sign int64) (number, error) {
	if y.big != nil || y.small < -maxNumberBits || y.small > maxNumberBits {
		return number{}, errorf("shift by %s bits is beyond %d", termText(y.term(), nil), maxNumberBits)
	}
	n := y.small * sign
	if n >= 0 {
		return number{big: new(big.Int).Lsh(x.wide(), uint(n))}, nil
	}
	return number{big: new(big.Int).Rsh(x.wide(), uint(-n))}, nil
}

// evaluate computes an arithmetic expression. Each function in it is a step, as a rule can build an
// expression that doubles with every goal.
func (r *run) evaluate(t engine.Term, env *engine.Env) (number, error) {
	t = env.Resolve(t)
	if n, ok := numberOf(t); ok {
		return n, nil
	}
	c, ok := t.(engine.Compound)
	if !ok {
		if _, unbound := t.(engine.Variable); unbound {
			return number{}, errorf("arithmetic on a variable that has no value yet")
		}
		return number{}, errorf("%s is not a number", termText(t, env))
	}
	if err := r.spend(1); err != nil {
		return number{}, err
	}
	var result number
	switch c.Arity() {
	case 1:
		f := unaryFunctions[c.Functor()]
		if f == nil {
			return number{}, errorf("%s is not a number or a function of arithmetic", termText(t, env))
		}
		x, err := r.evaluate(c.Arg(0), env)
		if err != nil {
			return number{}, err
		}
		result = f(x)
	case 2:
		f := binaryFunctions[c.Functor()]
		if f == nil {
			return number{}, errorf("%s is not a number or a function of arithmetic", termText(t, env))
		}
		x, err := r.evaluate(c.Arg(0), env)
		if err != nil {
			return number{}, err
		}
		y, err := r.evaluate(c.Arg(1), env)
		if err != nil {
			return number{}, err
		}
		if result, err = f(x, y); err != nil {
			return number{}, err
		}
	default:
		return number{}, errorf("%s is not a number", termText(t, env))
	}
	if result.big != nil {
		if result.big.BitLen() > maxNumberBits {
			return number{}, errorf("a number of more than %d bits", maxNumberBits)
		}
		if result.big.IsInt64() { // back to the one form that it has
			result = number{small: result.big.Int64()}
		}
	}
	return result, nil
}

// is is (is)/2.
func (r *run) is(_ *engine.VM, result, expression engine.Term, k engine.Cont, env *engine.Env) *engine.Promise {
	n, err := r.evaluate(expression, env)
	if err != nil {
		return engine.Error(inGoal(err, "is", result, expression, env))
	}
	e, ok := env.Unify(result, n.term())
	if !ok {
		return engine.Bool(false)
	}
	return k(e)
}

// comparison makes a predicate that compares two expressions. Both sides are always evaluated, so that
// what is no number is reported whatever the other side is.
func (r *run) comparison(operator string, holds func(order int) bool) engine.Predicate2 {
	return func(_ *engine.VM, left, right engine.Term, k engine.Cont, env *engine.Env) *engine.Promise {
		x, err := r.evaluate(left, env)
		if err != nil {
			return engine.Error(inGoal(err, operator, left, right, env))
		}
		y, err := r.evaluate(right, env)
		if err != nil {
			return engine.Error(inGoal(err, operator, left, right, env))
		}
		if !holds(x.cmp(y)) {
			return engine.Bool(false)
		}
		return k(env)
	}
}

// inGoal adds the goal to a mistake in it.
func inGoal(err error, operator string, left, right engine.Term, env *engine.Env) error {
	mistake, ok := errors.AsType[ruleError](err)
	if !ok {
		return err
	}
	return errorf("%s %s %s: %s", termText(left, env), operator, termText(right, env), mistake.text)
}
