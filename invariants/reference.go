package invariants

import (
	"context"

	"github.com/ichiban/prolog/engine"

	"fsward/change"
)

// Options bound what rules may spend. The zero value of each field means its default.
type Options struct {
	// Steps and StepsPerRecord give each rule Steps + StepsPerRecord × records steps for a transaction. A
	// step is a clause entered, a primitive called, a record or an object looked at. Defaults: 1,000,000
	// and 1,000.
	Steps, StepsPerRecord int64
	// MaxDepth bounds the clauses on one branch of a proof, and with them memory. Default: 20,000.
	MaxDepth int
	// MaxViolations bounds the violations that are reported of one rule. Default: 1,000.
	MaxViolations int
	// RowsPerRecord bounds the records and objects that the compiled engine looks at for one change record
	// that triggers a rule. Default: 4,194,304.
	RowsPerRecord int64
	// OpenVocabulary accepts kinds and fields that the schema does not have; they match nothing. It is for
	// files of facts, whose schema has what occurs in them.
	OpenVocabulary bool

	// Progress, if not nil, is told how many change records the compiled engine has judged by all rules, of how
	// many. What it does in between is its own affair: the search goes on when it returns. Then one goroutine judges.
	Progress func(done, total int)

	eagerSums    bool // sums are kept from the first question on: for tests
	parallelFrom int  // records from which rules are judged by two goroutines; 0: the default
}

func (o Options) withDefaults() Options {
	orDefault := func(n *int64, d int64) {
		if *n <= 0 {
			*n = d
		}
	}
	orDefault(&o.Steps, 1_000_000)
	orDefault(&o.StepsPerRecord, 1_000)
	orDefault(&o.RowsPerRecord, 1<<22)
	if o.MaxDepth <= 0 {
		o.MaxDepth = 20_000
	}
	if o.MaxViolations <= 0 {
		o.MaxViolations = 1_000
	}
	return o
}

// reference is the Engine that interprets rules: slow, complete, and what other engines are compared with.
type reference struct {
	options Options
	rules   []*rule
	run     run
	report  *report
}

// NewReference loads rules for the file system of a schema into the reference engine. The prelude is
// added to them. The error joins a LoadError for each mistake found.
func NewReference(schema *change.Schema, files []File, options Options) (Engine, error) {
	e := &reference{options: options.withDefaults()}
	l := newLoader(schema, e.run.builtins(), options.OpenVocabulary)
	if err := l.load(files); err != nil {
		return nil, err
	}
	e.take(l)
	return e, nil
}

// take takes the rules that were loaded.
func (e *reference) take(l *loader) {
	e.rules = l.rules
	e.run.vm, e.run.vocabulary = l.vm, l.vocabulary
	e.report = newReport(&e.run, l.rules, e.options.MaxViolations)
}

// Rules describes the rules in the order of the files.
func (e *reference) Rules() []Rule {
	list := make([]Rule, len(e.rules))
	for i, r := range e.rules {
		list[i] = r.Rule
	}
	return list
}

// Check judges a transaction by every rule. What a rule spends does not take from the next.
func (e *reference) Check(ctx context.Context, t *change.Txn, v change.View) Verdict {
	r := &e.run
	end := e.begin(ctx, t, v)
	defer end()

	for _, rule := range e.rules {
		r.steps = 0
		for _, c := range rule.clauses {
			if err := e.runClause(rule, c); err != nil {
				e.report.undecided(rule, c, e.report.stopped(err))
			}
		}
	}
	return e.report.verdict()
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
	e.report.reset()
	return func() {
		r.ctx, r.txn, r.view, r.index, r.held, r.reverse = nil, nil, nil, recordIndex{}, nil, nil
		r.last = lookup{}
	}
}

// runClause runs one clause of a rule through all its solutions.
func (e *reference) runClause(rule *rule, c ruleClause) error {
	r := &e.run
	if err := r.ctx.Err(); err != nil {
		return err
	}
	tree, id := engine.NewVariable(), engine.NewVariable()
	r.depth, r.last = 0, lookup{}
	_, err := r.vm.Arrive(c.goal, []engine.Term{tree, id}, func(env *engine.Env) *engine.Promise {
		if err := r.spend(1); err != nil {
			return engine.Error(err)
		}
		if !e.report.add(rule, c, env.Resolve(tree), env.Resolve(id), env) {
			return engine.Error(errStop)
		}
		return engine.Bool(false)
	}, nil).Force(r.ctx)
	return err
}
