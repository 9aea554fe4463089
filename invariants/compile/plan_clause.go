package compile

import (
	"slices"

	"github.com/ichiban/prolog/engine"

	"fsward/invariants/ruleset"
	"fsward/invariants/syntax"
)

// A clauseTemplate is a clause of rule text as templates, made once. Its variables are numbered
// from 0, those of the head first.
type clauseTemplate struct {
	*ruleset.ParsedClause
	head, body template
	variables  []variableInfo
}

// A clauseReader makes the template of a clause.
type clauseReader struct {
	terms     *interner
	clause    *clauseTemplate
	variables map[engine.Variable]template
}

// newClauseTemplate makes the template of a clause.
func newClauseTemplate(t *interner, parsed *ruleset.ParsedClause) *clauseTemplate {
	c := &clauseTemplate{ParsedClause: parsed}
	r := clauseReader{t, c, map[engine.Variable]template{}}
	c.head = r.read(parsed.Head)
	c.body = constant(atomValue(atomTrue))
	if parsed.Body != nil {
		c.body = r.read(parsed.Body)
	}
	for i := range c.variables {
		c.variables[i].single = c.variables[i].uses == 1
	}
	return c
}

func (r *clauseReader) read(t engine.Term) template {
	switch t := t.(type) {
	case engine.Variable:
		v, ok := r.variables[t]
		if !ok {
			v = variable(len(r.clause.variables))
			r.variables[t] = v
			r.clause.variables = append(r.clause.variables, variableInfo{name: r.clause.Variables[t]})
		}
		r.clause.variables[v.(variable)].uses++
		return v
	case engine.Atom:
		return constant(atomValue(t))
	case engine.Compound:
		args := make([]template, t.Arity())
		for i := range args {
			args[i] = r.read(t.Arg(i))
		}
		return compoundTemplate{t.Functor(), args}
	default:
		if x, ok := syntax.NumberOf(t); ok {
			return constant(r.terms.numberValue(x))
		}
		return constant(value{tag: tagNone})
	}
}

// An instance is a clause with variables of its own in some bindings.
type instance struct {
	clause    *clauseTemplate
	variables []template
}

// instance adds the variables of a clause to bindings.
func (c *clauseTemplate) instance(e *bindings) instance {
	n := instance{c, make([]template, len(c.variables))}
	for i, v := range c.variables {
		n.variables[i] = e.add(v)
	}
	return n
}

func (n *instance) head() template {
	t, _ := n.of(n.clause.head)
	return t
}

func (n *instance) body() template {
	t, _ := n.of(n.clause.body)
	return t
}

// of replaces the variables of the clause in a template; other reports whether there are any. All
// instances share what has none.
func (n *instance) of(t template) (replaced template, other bool) {
	switch t := t.(type) {
	case variable:
		return n.variables[t], true
	case compoundTemplate:
		var args []template
		for i, a := range t.args {
			b, other := n.of(a)
			if other && args == nil {
				args = slices.Clone(t.args)
			}
			if other {
				args[i] = b
			}
		}
		if args != nil {
			return compoundTemplate{t.functor, args}, true
		}
	}
	return t, false
}
