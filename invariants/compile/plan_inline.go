package compile

import (
	"slices"

	"github.com/ichiban/prolog/engine"

	"fsward/invariants/ruleset"
	"fsward/invariants/syntax"
)

// An inliner takes conjunctions apart and inlines helpers.
type inliner struct {
	compiler *compiler
	interner *interner
	explain  *explainer
	unifier  *unifier
	inlined  int              // number of clauses so far
	opening  syntax.Indicator // a helper that calls itself, whose next call is inlined
}

// flatten takes conjunctions apart and inlines helpers with one clause. At a goal that can never be
// true it ends the list with fail, and reports alive as false.
func (in *inliner) flatten(goals []goal, e *bindings) (out []goal, alive bool, err error) {
	for _, g := range goals {
		more, alive, err := in.flattenGoal(g, e)
		if err != nil {
			return nil, false, err
		}
		out = append(out, more...)
		if !alive {
			if n := len(out); n == 0 || !isFail(out[n-1].t) {
				out = append(out, goal{constant(atomValue(atomFail)), g.at})
			}
			return out, false, nil
		}
	}
	return out, true, nil
}

func (in *inliner) flattenGoal(g goal, e *bindings) (out []goal, alive bool, err error) {
	t := e.walk(g.t)
	q, args, ok := goalOfTemplate(t)
	if !ok {
		return nil, false, unsupportedf("a goal that is a variable is not known before it runs")
	}
	switch {
	case q == syntax.Pred(",", 2):
		return in.flatten([]goal{{args[0], g.at}, {args[1], g.at}}, e)
	case q == syntax.Pred("true", 0):
		return nil, true, nil
	case q == syntax.Pred("fail", 0), q == syntax.Pred("false", 0):
		in.explain.kill(e, t)
		return nil, false, nil
	case q == syntax.Pred("call", 1) && isControl(e, args[0]):
		return in.flattenGoal(goal{args[0], g.at}, e)
	case q == syntax.Pred("call", 2), q == syntax.Pred("call", 3):
		closure, bound, ok := goalOfTemplate(e.walk(args[0]))
		if !ok {
			return nil, false, unsupportedf("a goal that is a variable is not known before it runs")
		}
		all := append(slices.Clone(bound), args[1:]...)
		return in.flattenGoal(goal{compoundTemplate{closure.Name, all}, g.at}, e)
	case q == syntax.Pred("not", 2):
		t = compoundTemplate{syntax.AtomNot, []template{compoundTemplate{syntax.AtomComma, args}}}
	case q == syntax.Pred("not", 1):
		t = compoundTemplate{syntax.AtomNot, args}
	case q == syntax.Pred("forall", 2):
		t = compoundTemplate{syntax.AtomNot, []template{compoundTemplate{syntax.AtomComma,
			[]template{args[0], compoundTemplate{syntax.AtomNot, args[1:]}}}}}
	case q == syntax.Pred("member", 2):
		return in.member(g, args, e)
	case q == syntax.Pred("verify", 1), q.Name == atomZero && q.Arity == 2:
	case in.compiler.predicates[q] != nil:
		return in.inline(g, q, args, e)
	}
	return []goal{{t, g.at}}, true, nil
}

// isControl reports whether the goal of call/1 is known and is not a cut, whose effect call/1 would
// confine.
func isControl(e *bindings, t template) bool {
	q, _, ok := goalOfTemplate(e.walk(t))
	return ok && q.Name != syntax.AtomCut
}

func isFail(t template) bool {
	c, ok := t.(constant)
	return ok && value(c).is(atomFail)
}

// member turns member/2 of a list in the text into a disjunction. Of any other list, member/2 is a
// helper that calls itself.
func (in *inliner) member(g goal, args []template, e *bindings) ([]goal, bool, error) {
	var branches []template
	for rest := e.walk(args[1]); ; {
		if c, ok := rest.(constant); ok && value(c).is(syntax.AtomEmptyList) {
			break
		}
		c, ok := rest.(compoundTemplate)
		if !ok || c.functor != syntax.AtomDot || len(c.args) != 2 {
			return []goal{g}, true, nil // the list is known at run time: member/2 is called
		}
		branches = append(branches, compoundTemplate{atomEquals, []template{args[0], c.args[0]}})
		rest = e.walk(c.args[1])
	}
	return in.disjunction(g, branches, e)
}

// disjunction makes one goal of branches.
func (in *inliner) disjunction(g goal, branches []template, e *bindings) ([]goal, bool, error) {
	if len(branches) == 0 {
		in.explain.kill(e, g.t)
		return nil, false, nil
	}
	if len(branches) == 1 {
		return in.flattenGoal(goal{branches[0], g.at}, e)
	}
	t := branches[len(branches)-1]
	for i := len(branches) - 2; i >= 0; i-- {
		t = compoundTemplate{syntax.AtomOr, []template{branches[i], t}}
	}
	return []goal{{t, g.at}}, true, nil
}

// inline replaces a call of a helper by the helper's clauses. It omits clauses whose head cannot
// match.
func (in *inliner) inline(g goal, q syntax.Indicator, args []template,
	e *bindings) ([]goal, bool, error) {
	if in.compiler.recursive[q] && q != in.opening || in.compiler.table(q) != nil {
		return []goal{g}, true, nil
	}
	in.opening = syntax.Indicator{}
	clauses := in.compiler.predicates[q]
	var branches []template
	at := g.at
	for i := len(clauses) - 1; i >= 0; i-- {
		c := clauses[i]
		if in.inlined++; in.inlined > maxInlined {
			return nil, false, unsupportedf("%s has too many clauses to be inlined", q)
		}
		trial := e.clone()
		n := newInstance(in.interner, trial, c)
		if head, ok := n.template(c.Head).(compoundTemplate); ok &&
			!in.couldMatch(trial, args, head.args) {
			continue
		}
		first := variable(len(e.bound))
		n = newInstance(in.interner, e, c)
		var conj []template
		if head, ok := n.template(c.Head).(compoundTemplate); ok {
			for j, h := range head.args {
				conj = in.pass(e, args[j], h, first, conj)
			}
		}
		before, after, hasCut := splitAtCut(n.template(bodyOf(c)))
		at = c.Text
		if !hasCut {
			branches = append(branches, conjunctionOf(append(conj, after)))
			continue
		}
		// The clauses after one with a cut are its else branch.
		slices.Reverse(branches)
		otherwise := template(constant(atomValue(engine.NewAtom("fail"))))
		for j := len(branches) - 1; j >= 0; j-- {
			if j == len(branches)-1 {
				otherwise = branches[j]
			} else {
				otherwise = compoundTemplate{syntax.AtomOr, []template{branches[j], otherwise}}
			}
		}
		then := compoundTemplate{syntax.AtomThen, []template{conjunctionOf(append(conj, before)), after}}
		branches = []template{compoundTemplate{syntax.AtomOr, []template{then, otherwise}}}
	}
	slices.Reverse(branches)
	return in.disjunction(goal{g.t, at}, branches, e)
}

func bodyOf(c ruleset.ParsedClause) engine.Term {
	if c.Body == nil {
		return atomTrue
	}
	return c.Body
}

func conjunctionOf(list []template) template {
	t := list[len(list)-1]
	for i := len(list) - 2; i >= 0; i-- {
		t = compoundTemplate{syntax.AtomComma, []template{list[i], t}}
	}
	return t
}

// splitAtCut splits a body at its last cut; without a cut, everything is after.
func splitAtCut(body template) (before, after template, hasCut bool) {
	var list []template
	var collect func(t template)
	collect = func(t template) {
		if c, ok := t.(compoundTemplate); ok && c.functor == syntax.AtomComma && len(c.args) == 2 {
			collect(c.args[0])
			collect(c.args[1])
			return
		}
		list = append(list, t)
	}
	collect(body)
	yes := template(constant(atomValue(atomTrue)))
	for i := len(list) - 1; i >= 0; i-- {
		if c, ok := list[i].(constant); ok && value(c).is(syntax.AtomCut) {
			var first []template
			for _, t := range list[:i] {
				if c, ok := t.(constant); !ok || !value(c).is(syntax.AtomCut) {
					first = append(first, t)
				}
			}
			return conjunctionOf(append(first, yes)), conjunctionOf(append(list[i+1:], yes)), true
		}
	}
	return nil, body, false
}

// couldMatch reports whether a head can match a call, by what is known now.
func (in *inliner) couldMatch(e *bindings, args, head []template) bool {
	for i := range args {
		if _, alive := in.unifier.unify(e, args[i], head[i], true); !alive {
			return false
		}
	}
	return true
}

// pass passes an argument of a call to the head of a clause, whose variables are those from first
// on. A variable of the head becomes another name for the argument. Anything else becomes a goal of
// its own, which keeps its place among the others. So does the second occurrence of a variable in
// the head: it would make two arguments of the call equal, also for the other clauses of the
// helper.
func (in *inliner) pass(e *bindings, arg, head template, first variable,
	conj []template) []template {
	head = e.walk(head)
	if v, ok := head.(variable); ok && v >= first && !e.occurs(v, arg) {
		arg = e.walk(arg)
		if e.uses[v] > 2 { // the helper uses it more than once, even if the caller does not
			e.free(arg, func(w variable) { e.single[w] = false })
		}
		e.bound[v] = arg
		return conj
	}
	c, ok1 := head.(compoundTemplate)
	d, ok2 := e.walk(arg).(compoundTemplate)
	if ok1 && ok2 && c.functor == d.functor && len(c.args) == len(d.args) {
		for i := range c.args {
			conj = in.pass(e, d.args[i], c.args[i], first, conj)
		}
		return conj
	}
	if a, ok := head.(constant); ok {
		if b, ok := e.walk(arg).(constant); ok && a == b {
			return conj
		}
	}
	return append(conj, compoundTemplate{atomEquals, []template{arg, head}})
}
