package invariants

import (
	"errors"

	"github.com/ichiban/prolog/engine"
)

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
