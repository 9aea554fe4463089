package invariants

import (
	"context"

	"github.com/ichiban/prolog/engine"

	"fsward/change"
	"fsward/invariants/ruleset"
	"fsward/invariants/syntax"
	"fsward/invariants/verdict"
)

// reference is the Engine that interprets rules: slow, complete, and what other engines are compared with.
type reference struct {
	options ruleset.Options
	set     *ruleset.Set
	run     run
	report  *verdict.Report
}

// NewReference loads rules for the file system of a schema into the reference engine. The prelude is
// added to them. The error joins a LoadError for each mistake found.
func NewReference(schema *change.Schema, files []syntax.File, options ruleset.Options) (Engine, error) {
	return newReference(schema, files, options, nil)
}

// newReference is NewReference with builtins that wrap changes, if it is not nil.
func newReference(schema *change.Schema, files []syntax.File, options ruleset.Options, wrap func(builtin) builtin) (*reference, error) {
	set, err := ruleset.Load(schema, files, options.OpenVocabulary)
	if err != nil {
		return nil, err
	}
	e := &reference{options: options.WithDefaults(), set: set}
	list := e.run.builtins()
	for i := range list {
		if wrap != nil {
			list[i] = wrap(list[i])
		}
	}
	if err := e.run.load(set, list); err != nil {
		return nil, err
	}
	e.report = verdict.NewReport(set.Vocabulary, set.Rules, e.options.MaxViolations)
	return e, nil
}

// Rules describes the rules in the order of the files.
func (e *reference) Rules() []ruleset.Rule {
	list := make([]ruleset.Rule, len(e.set.Rules))
	for i, r := range e.set.Rules {
		list[i] = r.Rule
	}
	return list
}

// Check judges a transaction by every rule. What a rule spends does not take from the next.
func (e *reference) Check(ctx context.Context, t *change.Txn, v change.View) verdict.Verdict {
	r := &e.run
	end := e.begin(ctx, t, v)
	defer end()

	for _, rule := range e.set.Rules {
		r.steps = 0
		for _, c := range rule.Clauses {
			if err := e.runClause(rule, c); err != nil {
				e.report.Undecided(rule, c, e.report.Stopped(err))
			}
		}
	}
	return e.report.Verdict()
}

// begin takes a transaction; end, which it returns, lets go of it, so that the engine does not keep it alive.
func (e *reference) begin(ctx context.Context, t *change.Txn, v change.View) (end func()) {
	r := &e.run
	r.ctx, r.txn, r.view = ctx, t, v
	r.index = recordIndex{records: t.Records}
	r.held = map[string]struct{}{}
	r.hashed.reset()
	r.reverse, r.reverseSize = map[reverseKey]map[change.Value][]change.Object{}, 0
	r.maxSteps = e.options.Steps + e.options.StepsPerRecord*int64(len(t.Records))
	r.maxDepth = e.options.MaxDepth
	e.report.Reset()
	e.report.Open(t)
	return func() {
		e.report.Close()
		r.ctx, r.txn, r.view, r.index, r.held, r.reverse = nil, nil, nil, recordIndex{}, nil, nil
		r.last = lookup{}
	}
}

// runClause runs one clause of a rule through all its solutions.
func (e *reference) runClause(rule *ruleset.LoadedRule, c ruleset.RuleClause) error {
	r := &e.run
	if err := r.ctx.Err(); err != nil {
		return err
	}
	tree, id := engine.NewVariable(), engine.NewVariable()
	r.depth, r.last = 0, lookup{}
	_, err := r.vm.Arrive(c.Goal, []engine.Term{tree, id}, func(env *engine.Env) *engine.Promise {
		if err := r.spend(1); err != nil {
			return engine.Error(err)
		}
		if !e.report.Add(rule, c, env.Resolve(tree), env.Resolve(id), env) {
			return engine.Error(verdict.ErrStop)
		}
		return engine.Bool(false)
	}, nil).Force(r.ctx)
	return err
}
