package compile

import (
	"slices"

	"github.com/ichiban/prolog/engine"

	"fsward/invariants/syntax"
)

// An inliner takes conjunctions apart and inlines helpers.
type inliner struct {
	compiler *compiler
	explain  *explainer
	unifier  *unifier
	inlined  int              // number of clauses so far
	opening  syntax.Indicator // a helper that calls itself, whose next call is inlined
	trial    bindings         // memory to try whether a head matches
}

// flatten takes conjunctions apart and inlines helpers with one clause. At a goal that can never be
// true it ends the list with fail, and reports alive as false.
func (in *inliner) flatten(goals []goal, e *bindings) (out []goal, alive bool, err error) {
	return in.flattenTo(make([]goal, 0, len(goals)+roomToGrow), goals, e)
}

// flattenTo is flatten that appends to a list.
func (in *inliner) flattenTo(out []goal, goals []goal,
	e *bindings) (_ []goal, alive bool, err error) {
	for _, g := range goals {
		if out, alive, err = in.flattenGoal(out, g, e); err != nil {
			return nil, false, err
		}
		if !alive {
			if n := len(out); n == 0 || !isFail(out[n-1].t) {
				out = append(out, goal{constant(atomValue(atomFail)), g.at})
			}
			return out, false, nil
		}
	}
	return out, true, nil
}

// flattenGoal appends what a goal consists of.
func (in *inliner) flattenGoal(out []goal, g goal,
	e *bindings) (_ []goal, alive bool, err error) {
	t := e.walk(g.t)
	q, args, ok := goalOfTemplate(t)
	if !ok {
		return nil, false, unsupportedf("a goal that is a variable is not known before it runs")
	}
	switch {
	case q == predAnd:
		return in.flattenTo(out, []goal{{args[0], g.at}, {args[1], g.at}}, e)
	case q == predTrue:
		return out, true, nil
	case q == predFail, q == predFalse:
		in.explain.kill(e, t)
		return out, false, nil
	case q == predCall1 && isControl(e, args[0]):
		return in.flattenGoal(out, goal{args[0], g.at}, e)
	case q == predCall2, q == predCall3:
		closure, bound, ok := goalOfTemplate(e.walk(args[0]))
		if !ok {
			return nil, false, unsupportedf("a goal that is a variable is not known before it runs")
		}
		all := append(slices.Clone(bound), args[1:]...)
		return in.flattenGoal(out, goal{compoundTemplate{closure.Name, all}, g.at}, e)
	case q == predNot2:
		t = compoundTemplate{syntax.AtomNot, []template{compoundTemplate{syntax.AtomComma, args}}}
	case q == predNot1:
		t = compoundTemplate{syntax.AtomNot, args}
	case q == predForall:
		t = compoundTemplate{syntax.AtomNot, []template{compoundTemplate{syntax.AtomComma,
			[]template{args[0], compoundTemplate{syntax.AtomNot, args[1:]}}}}}
	case q == predMember:
		return in.member(out, g, args, e)
	case q == predVerify, q.Name == atomZero && q.Arity == 2:
	case in.compiler.predicates[q] != nil:
		return in.inline(out, g, q, args, e)
	}
	return append(out, goal{t, g.at}), true, nil
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
func (in *inliner) member(out []goal, g goal, args []template,
	e *bindings) ([]goal, bool, error) {
	var branches []template
	for rest := e.walk(args[1]); ; {
		if c, ok := rest.(constant); ok && value(c).is(syntax.AtomEmptyList) {
			break
		}
		c, ok := rest.(compoundTemplate)
		if !ok || c.functor != syntax.AtomDot || len(c.args) != 2 {
			return append(out, g), true, nil // the list is known at run time: member/2 is called
		}
		branches = append(branches, compoundTemplate{atomEquals, []template{args[0], c.args[0]}})
		rest = e.walk(c.args[1])
	}
	return in.disjunction(out, g, branches, e)
}

// disjunction makes one goal of branches.
func (in *inliner) disjunction(out []goal, g goal, branches []template,
	e *bindings) ([]goal, bool, error) {
	if len(branches) == 0 {
		in.explain.kill(e, g.t)
		return out, false, nil
	}
	if len(branches) == 1 {
		return in.flattenGoal(out, goal{branches[0], g.at}, e)
	}
	t := branches[len(branches)-1]
	for i := len(branches) - 2; i >= 0; i-- {
		t = compoundTemplate{syntax.AtomOr, []template{branches[i], t}}
	}
	return append(out, goal{t, g.at}), true, nil
}

// inline replaces a call of a helper by the helper's clauses. It omits clauses whose head cannot
// match.
func (in *inliner) inline(out []goal, g goal, q syntax.Indicator, args []template,
	e *bindings) ([]goal, bool, error) {
	if in.compiler.recursive[q] && q != in.opening || in.compiler.table(q) != nil {
		return append(out, g), true, nil
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
		first := variable(len(e.bound))
		in.trial.copy(e)
		n := c.instance(&in.trial)
		head, _ := n.head().(compoundTemplate)
		if !in.couldMatch(&in.trial, args, head.args) {
			continue
		}
		for _, v := range c.variables {
			e.add(v)
		}
		var conj []template
		for j, h := range head.args {
			conj = in.pass(e, args[j], h, first, conj)
		}
		before, after, hasCut := splitAtCut(n.body())
		at = &c.Text
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
	return in.disjunction(out, goal{g.t, at}, branches, e)
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
		if e.info[v].uses > 2 { // the helper uses it more than once, even if the caller does not
			e.free(arg, func(w variable) { e.info[w].single = false })
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
