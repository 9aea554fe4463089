package reference

import (
	"errors"

	"github.com/ichiban/prolog/engine"

	"fsward/invariants/syntax"
)

// arithmetic computes the values of expressions.
type arithmetic struct{ budget *budget }

// evaluate computes an arithmetic expression. Each function in it costs a step, because a rule can
// build an expression that doubles with every goal.
func (a *arithmetic) evaluate(t engine.Term, env *engine.Env) (syntax.Number, error) {
	t = env.Resolve(t)
	if n, ok := syntax.NumberOf(t); ok {
		return n, nil
	}
	c, ok := t.(engine.Compound)
	if !ok {
		if _, unbound := t.(engine.Variable); unbound {
			return syntax.Number{}, syntax.RuleErrorf("arithmetic on a variable that has no value yet")
		}
		return syntax.Number{}, syntax.RuleErrorf("%s is not a number", syntax.TermText(t, env))
	}
	if err := a.budget.spend(1); err != nil {
		return syntax.Number{}, err
	}
	var result syntax.Number
	switch c.Arity() {
	case 1:
		f := syntax.UnaryFunctions[c.Functor()]
		if f == nil {
			return syntax.Number{}, syntax.RuleErrorf("%s is not a number or a function of arithmetic",
				syntax.TermText(t, env))
		}
		x, err := a.evaluate(c.Arg(0), env)
		if err != nil {
			return syntax.Number{}, err
		}
		result = f(x)
	case 2:
		f := syntax.BinaryFunctions[c.Functor()]
		if f == nil {
			return syntax.Number{}, syntax.RuleErrorf("%s is not a number or a function of arithmetic",
				syntax.TermText(t, env))
		}
		x, err := a.evaluate(c.Arg(0), env)
		if err != nil {
			return syntax.Number{}, err
		}
		y, err := a.evaluate(c.Arg(1), env)
		if err != nil {
			return syntax.Number{}, err
		}
		if result, err = f(x, y); err != nil {
			return syntax.Number{}, err
		}
	default:
		return syntax.Number{}, syntax.RuleErrorf("%s is not a number", syntax.TermText(t, env))
	}
	if result.Big != nil {
		if result.Big.BitLen() > syntax.MaxNumberBits {
			return syntax.Number{}, syntax.RuleErrorf("a number of more than %d bits", syntax.MaxNumberBits)
		}
		if result.Big.IsInt64() { // restore the one form of the number
			result = syntax.Number{Small: result.Big.Int64()}
		}
	}
	return result, nil
}

// is implements (is)/2.
func (a *arithmetic) is(_ *engine.VM, result, expression engine.Term, k engine.Cont,
	env *engine.Env) *engine.Promise {
	n, err := a.evaluate(expression, env)
	if err != nil {
		return engine.Error(inGoal(err, "is", result, expression, env))
	}
	e, ok := env.Unify(result, n.Term())
	if !ok {
		return engine.Bool(false)
	}
	return k(e)
}

// comparison makes a predicate that compares two expressions. It evaluates both sides in any case,
// so that it reports a side that is not a number whatever the other side is.
func (a *arithmetic) comparison(operator string, holds func(order int) bool) engine.Predicate2 {
	return func(_ *engine.VM, left, right engine.Term, k engine.Cont,
		env *engine.Env) *engine.Promise {
		x, err := a.evaluate(left, env)
		if err != nil {
			return engine.Error(inGoal(err, operator, left, right, env))
		}
		y, err := a.evaluate(right, env)
		if err != nil {
			return engine.Error(inGoal(err, operator, left, right, env))
		}
		if !holds(x.Cmp(y)) {
			return engine.Bool(false)
		}
		return k(env)
	}
}

// inGoal adds the goal to the text of a RuleError.
func inGoal(err error, operator string, left, right engine.Term, env *engine.Env) error {
	mistake, ok := errors.AsType[syntax.RuleError](err)
	if !ok {
		return err
	}
	return syntax.RuleErrorf("%s %s %s: %s", syntax.TermText(left, env), operator,
		syntax.TermText(right, env), mistake.Text)
}
