package reference

import (
	"github.com/ichiban/prolog/engine"

	"fsward/change"
	"fsward/invariants/ruleset"
	"fsward/invariants/syntax"
)

// Coverage counts, for each clause of a set of rules, how often each of its goals was true.
type Coverage struct {
	Clauses []*ClauseCoverage // in the order of the files, without the prelude
}

// ClauseCoverage is the coverage of one clause.
type ClauseCoverage struct {
	Text  syntax.ClauseText
	Rule  string   // "ext3/15"; "" for a helper
	Head  string   // of a helper: NAME/ARITY
	Goals []string // of its body, in order; none for a fact
	// True has the number of times that the goals up to the i-th were true; the last one is that of
	// the clause.
	True []int
}

// Done returns how often the clause was true.
func (c *ClauseCoverage) Done() int { return c.True[len(c.True)-1] }

// Reached returns the number of its goals that were ever true.
func (c *ClauseCoverage) Reached() int {
	n := 0
	for n < len(c.Goals) && c.True[n] > 0 {
		n++
	}
	return n
}

var atomReach = engine.NewAtom("$reach")

// NewCovered is New of an engine that counts how often each goal of its clauses is true.
func NewCovered(schema *change.Schema, files []syntax.File,
	options ruleset.Options) (*Engine, *Coverage, error) {
	set, err := ruleset.Load(schema, files, options)
	if err != nil {
		return nil, nil, err
	}
	e := &Engine{Options: options.WithDefaults(), Set: set, run: newInterpreter(set.Vocabulary)}
	cover := &Coverage{}
	e.run.cover = cover
	list := append(e.run.builtins(), builtin{syntax.Indicator{Name: atomReach, Arity: 2},
		func(_ *engine.VM, n, i engine.Term, k engine.Cont, env *engine.Env) *engine.Promise {
			clause, _ := env.Resolve(n).(engine.Integer)
			goal, _ := env.Resolve(i).(engine.Integer)
			cover.Clauses[clause].True[goal]++
			return k(env)
		}})
	if err := e.run.load(set, list); err != nil {
		return nil, nil, err
	}
	e.Report = newReport(e)
	return e, cover, nil
}

// covered returns the body of a clause with a count after each of its goals. A body that is a
// disjunction counts as one goal.
func (c *Coverage) covered(set *ruleset.Set, clause ruleset.ParsedClause) engine.Term {
	if clause.Prelude() {
		return clause.Body
	}
	at := &ClauseCoverage{Text: clause.Text}
	p, _ := syntax.IndicatorOf(clause.Head)
	if at.Head = p.String(); p.Name == syntax.AtomViolation {
		at.Rule = set.RuleName(clause.Head.(engine.Compound).Arg(0))
	}
	n := engine.Integer(len(c.Clauses))
	c.Clauses = append(c.Clauses, at)
	reach := func() engine.Term {
		at.True = append(at.True, 0)
		return atomReach.Apply(n, engine.Integer(len(at.True)-1))
	}
	if clause.Body == nil {
		return reach()
	}
	var body engine.Term
	goals := ruleset.Conjuncts(clause.Body)
	for i := range goals {
		at.Goals = append(at.Goals, syntax.TermTextNamed(goals[i], clause.Variables))
	}
	marks := make([]engine.Term, len(goals))
	for i := range goals {
		marks[i] = reach()
	}
	for i := len(goals) - 1; i >= 0; i-- {
		tail := marks[i]
		if body != nil {
			tail = syntax.AtomComma.Apply(marks[i], body)
		}
		body = syntax.AtomComma.Apply(goals[i], tail)
	}
	return body
}
