package reference

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ichiban/prolog/engine"

	"fsward/change"
	"fsward/invariants/ruleset"
	"fsward/invariants/syntax"
)

// A QuerySession answers a person's questions about a transaction: all answers of a goal, and why a
// rule found a violation. It runs on the reference interpreter, with the budget of a rule. One
// goroutine at a time may use it.
type QuerySession struct {
	engine *Engine
	proof  *proof // nil unless a proof's evidence is kept
}

// NewQuerySession loads rules, so that goals may use their helpers. The error is that of New.
func NewQuerySession(schema *change.Schema, files []syntax.File,
	options ruleset.Options) (*QuerySession, error) {
	p := &QuerySession{}
	var err error
	if p.engine, err = newWrapped(schema, files, options, p.evident); err != nil {
		return nil, err
	}
	return p, p.defineViolation()
}

// defineViolation lets goals call violation(NUMBER, TREE, ID): in the interpreter, each clause of a
// rule is a predicate of its own.
func (p *QuerySession) defineViolation() error {
	p.engine.Set.AllowViolation()
	if len(p.engine.Set.Rules) == 0 {
		return p.engine.run.assert(syntax.AtomIf.Apply(syntax.AtomViolation.Apply(engine.NewVariable(),
			engine.NewVariable(), engine.NewVariable()),
			engine.NewAtom("fail")))
	}
	for _, r := range p.engine.Set.Rules {
		for _, c := range r.Clauses {
			tree, id := engine.NewVariable(), engine.NewVariable()
			if err := p.engine.run.assert(syntax.AtomIf.Apply(syntax.AtomViolation.Apply(r.Number, tree, id),
				c.Goal.Apply(tree, id))); err != nil {
				return err
			}
		}
	}
	return nil
}

// Answers are the answers of a goal.
type Answers struct {
	Variables []string // in the order of the goal, without names that begin with _
	Rows      [][]Answer
	More      bool  // there are more than the limit
	Steps     int64 // cost: see Options.Steps
}

// An Answer is the value of one variable.
type Answer struct {
	Text   string // as rules write it; "_" if the goal leaves it unbound
	Number bool   // Text is a decimal integer
}

// errLimit ends a query that has as many answers as requested.
var errLimit = errors.New("no more answers are looked for")

// Ask returns the answers of a goal, at most limit of them. The goal is written as in a rule, with
// or without a full stop. The error is a LoadError if the text has a mistake; any other error says
// why the goal could not be answered, and comes with the answers found so far.
func (p *QuerySession) Ask(ctx context.Context, t *change.Txn, v change.View, goal string,
	limit int) (*Answers, error) {
	term, variables, names, err := p.parseGoal(goal)
	if err != nil {
		return nil, err
	}
	end := p.engine.Begin(ctx, t, v)
	defer end()
	r := p.engine.run
	r.startRule()
	r.startGoal()
	out := &Answers{Variables: names}
	err = r.solver.each(ctx, term, nil, func(env *engine.Env) error {
		if len(out.Rows) == limit {
			out.More = true
			return errLimit
		}
		row := make([]Answer, len(names))
		for i, n := range names {
			x := env.Resolve(variables[n])
			row[i] = Answer{syntax.TermText(x, env), syntax.IsNumber(x)}
		}
		out.Rows = append(out.Rows, row)
		return r.budget.spend(1)
	})
	out.Steps = r.budget.steps
	if err != nil && !errors.Is(err, errLimit) {
		return out, plainError(err)
	}
	return out, nil
}

// plainError turns an exception of the interpreter into an error with its text.
func plainError(err error) error {
	if e, ok := errors.AsType[engine.Exception](err); ok {
		return errors.New(syntax.TermText(e.Term(), nil))
	}
	return err
}

// parseGoal parses a goal and checks it as the body of a clause. names are its variables in order.
func (p *QuerySession) parseGoal(goal string) (t engine.Term, variables map[string]engine.Variable,
	names []string, err error) {
	t, variables, clause, err := p.parseTerm(strings.TrimPrefix(strings.TrimSpace(goal), "?-"))
	if err != nil {
		return nil, nil, nil, err
	}
	if err := p.engine.Set.CheckGoal(clause, t); err != nil {
		return nil, nil, nil, err
	}
	return t, variables, clause.VariableNames(), nil
}

// parseTerm parses the text of one term, with or without a full stop.
func (p *QuerySession) parseTerm(text string) (engine.Term, map[string]engine.Variable,
	syntax.ClauseText, error) {
	return syntax.ParseTerm("query", text, p.engine.Set.Operators)
}

// Predicates lists the predicates that goals can call, as NAME/ARITY, sorted.
func (p *QuerySession) Predicates() []string { return p.engine.Set.Predicates() }

// ruleAt returns the clauses of a rule by its name in reports, beginning with the clause at source.
func (p *QuerySession) ruleAt(name, source string) ([]ruleset.RuleClause, error) {
	for _, r := range p.engine.Set.Rules {
		if r.Name != name {
			continue
		}
		clauses := slices.Clone(r.Clauses)
		slices.SortStableFunc(clauses, func(a, b ruleset.RuleClause) int {
			switch source {
			case a.Source:
				return -1
			case b.Source:
				return 1
			}
			return 0
		})
		return clauses, nil
	}
	return nil, fmt.Errorf("no rule %s", name)
}
