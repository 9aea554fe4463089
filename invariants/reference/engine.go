package reference

import (
	"context"

	"github.com/ichiban/prolog/engine"

	"fsward/change"
	"fsward/invariants/ruleset"
	"fsward/invariants/syntax"
	"fsward/invariants/verdict"
)

// Engine judges transactions by interpreting rules. One goroutine at a time may use it.
type Engine struct {
	Options ruleset.Options
	Set     *ruleset.Set
	Report  *verdict.Report // of the current transaction
	run     *interpreter
}

// New loads rules for the file system of a schema into the reference engine. The error joins a
// LoadError for each mistake found.
func New(schema *change.Schema, files []syntax.File, options ruleset.Options) (*Engine, error) {
	if options.Late {
		set, err := ruleset.Load(schema, files, options)
		if err != nil {
			return nil, err
		}
		return newLate(set, options), nil
	}
	return newWrapped(schema, files, options, nil)
}

// newWrapped is New; wrap, if it is not nil, changes each builtin.
func newWrapped(schema *change.Schema, files []syntax.File, options ruleset.Options,
	wrap func(builtin) builtin) (*Engine, error) {
	set, err := ruleset.Load(schema, files, options)
	if err != nil {
		return nil, err
	}
	e := &Engine{Options: options.WithDefaults(), Set: set, run: newInterpreter(set.Vocabulary)}
	list := e.run.builtins()
	for i := range list {
		if wrap != nil {
			list[i] = wrap(list[i])
		}
	}
	if err := e.run.load(set, list); err != nil {
		return nil, err
	}
	e.Report = newReport(e)
	return e, nil
}

// Again returns another engine of the same rules. It loads them into its interpreter when it first
// interprets a clause. The options cannot change what those of the first engine say of Settings and
// OpenVocabulary.
func (e *Engine) Again(options ruleset.Options) *Engine { return newLate(e.Set, options) }

// newLate returns an engine whose interpreter loads the rules when it first interprets a clause.
func newLate(set *ruleset.Set, options ruleset.Options) *Engine {
	e := &Engine{Options: options.WithDefaults(), Set: set, run: newInterpreter(set.Vocabulary)}
	e.Report = newReport(e)
	return e
}

func newReport(e *Engine) *verdict.Report {
	return verdict.NewReport(e.Set.Vocabulary, e.Set.Rules, e.Options.MaxViolations)
}

// Rules describes the rules in the order of the files.
func (e *Engine) Rules() []ruleset.Rule {
	list := make([]ruleset.Rule, len(e.Set.Rules))
	for i, r := range e.Set.Rules {
		list[i] = r.Rule
	}
	return list
}

// Check judges a transaction by every rule. Each rule has a budget of its own.
func (e *Engine) Check(ctx context.Context, t *change.Txn, v change.View) verdict.Verdict {
	end := e.Begin(ctx, t, v)
	defer end()
	t.Work.Judge(len(t.Records))
	for _, rule := range e.Set.Rules {
		e.StartRule()
		for _, c := range rule.Clauses {
			if err := e.RunClause(rule, c); err != nil {
				e.Report.Undecided(rule, c, e.Report.Stopped(err))
			}
		}
	}
	return e.Report.Verdict()
}

// Begin sets the transaction. Call end afterwards, so that the engine does not keep the transaction
// alive.
func (e *Engine) Begin(ctx context.Context, t *change.Txn, v change.View) (end func()) {
	e.run.begin(ctx, t, v, e.Options)
	e.Report.Reset()
	e.Report.Open(t)
	return func() {
		e.Report.Close()
		e.run.end()
	}
}

// StartRule gives the next rule its whole budget.
func (e *Engine) StartRule() { e.run.startRule() }

// RunClause finds all solutions of one clause of a rule.
func (e *Engine) RunClause(rule *ruleset.LoadedRule, c ruleset.RuleClause) error {
	r := e.run
	if err := r.budget.ctx.Err(); err != nil {
		return err
	}
	if r.solver.vm == nil {
		if err := r.load(e.Set, r.builtins()); err != nil {
			return err
		}
	}
	tree, id := engine.NewVariable(), engine.NewVariable()
	r.startGoal()
	_, err := r.solver.vm.Arrive(c.Goal, []engine.Term{tree, id},
		func(env *engine.Env) *engine.Promise {
			if err := r.budget.spend(1); err != nil {
				return engine.Error(err)
			}
			if !e.Report.Add(rule, c, env.Resolve(tree), env.Resolve(id), env) {
				return engine.Error(verdict.ErrStop)
			}
			return engine.Bool(false)
		}, nil).Force(r.budget.ctx)
	return err
}
