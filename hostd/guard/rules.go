package guard

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"

	"fsward/change"
	"fsward/hostd/memory"
	"fsward/invariants"
)

// RulesConfig says which rules to load, and how to run them.
type RulesConfig struct {
	Dir string // rules in Dir/<file system>/*.pl; "" for the built-in ones
	// Add names bundles of a site, folders or zip files: their rules run after those of Dir, and their
	// settings change both. See invariants/bundle.
	Add    []string
	Engine string // one of Engines; "" for the first
	Why    bool   // explain each violation
	Timing bool   // measure the time of each rule

	// StreamProgress, if not nil, receives the number of change records checked of a file system that
	// is checked as a stream, and their total.
	StreamProgress func(done, total int)
	// Memory is for checking a whole file system, in bytes. Half of it holds change records; a file
	// system with more is checked as a stream, and so is a commit. Then rules may use a quarter for
	// their sums. 0 selects memory.Default.
	Memory uint64
}

// Rules checks transactions. Its rules can be replaced while it is in use.
type Rules struct {
	config RulesConfig
	set    atomic.Pointer[ruleSet]
}

// MemoryBytes returns Memory, or its default.
func (c RulesConfig) MemoryBytes() uint64 {
	if c.Memory == 0 {
		return memory.Default
	}
	return c.Memory
}

// BuiltIn reports whether there are no rules and no settings of a site. The rules of a site may say
// how a tree may change, and see everything in a whole file system as new; the built-in ones do not
// depend on that: see docs/decisions/0075.
func (c RulesConfig) BuiltIn() bool { return c.Dir == "" && len(c.Add) == 0 }

// Load loads the rules of every file system. If a rule does not load, the error names its file and
// line. The built-in rules have no mistakes, and those of a file system are compiled when the first
// disk has it.
func (c RulesConfig) Load() (*Rules, error) {
	r := &Rules{config: c}
	set, err := c.load()
	if err != nil {
		return nil, err
	}
	r.set.Store(set)
	return r, nil
}

// Reload reads the rules again. It returns what changes, and a function that puts them in force.
// The swap happens between two transactions, and every transaction is checked. If the rules do not
// load, nothing changes.
func (r *Rules) Reload() (changes RuleChanges, swap func(), err error) {
	set, err := r.config.load()
	if err != nil {
		return changes, nil, err
	}
	old := r.set.Load()
	for name, system := range old.systems {
		if next := set.systems[name]; next != nil && system.prepared.Load() {
			next.prepare()
		}
	}
	return old.changes(set), func() { r.set.Store(set) }, nil
}

// Prepare makes the rules of a file system ready to judge, so that no commit waits for that. fs is
// "" for a volume without one.
func (r *Rules) Prepare(fs string) {
	if system := r.set.Load().systems[fs]; system != nil {
		system.prepare()
	}
}

// MaxExplained bounds the violations of one commit that are explained.
const MaxExplained = 20

// Check checks a transaction by the rules of its file system.
func (r *Rules) Check(ctx context.Context, t *change.Txn, v change.View) invariants.Verdict {
	set := r.set.Load()
	system, ok := set.systems[t.Schema.FS]
	if !ok {
		return r.none(t.Schema.FS)
	}
	system.prepare()
	verdict := system.engine.Check(ctx, t, v)
	verdict.RulesHash = set.info.Hash
	if r.config.Why {
		system.explain(ctx, t, v, verdict.Violations)
	}
	return verdict
}

// none returns the verdict about a file system without rules.
func (r *Rules) none(fs string) invariants.Verdict {
	return invariants.Verdict{Open: true, Undecided: []string{NoRulesError{fs, r.config.Dir}.Error()}}
}

// CheckStream checks a commit, or a file system, that is too large to be held in memory.
func (r *Rules) CheckStream(ctx context.Context, fs string, s change.Stream,
	v change.View) invariants.Verdict {
	set := r.set.Load()
	system, ok := set.systems[fs]
	if !ok {
		return r.none(fs)
	}
	system.prepare()
	verdict := system.engine.CheckStream(ctx, s, v, r.config.MemoryBytes()/4)
	verdict.RulesHash = set.info.Hash
	return verdict
}

// explain adds reasons to violations.
func (s *systemRules) explain(ctx context.Context, t *change.Txn, v change.View,
	found []change.Violation) {
	explained := 0
	for _, layer := range s.layers {
		of := make([]int, 0, len(found))
		for i := range found {
			if layer.rules[found[i].Rule] && explained < MaxExplained {
				of = append(of, i)
				explained++
			}
		}
		if len(of) == 0 {
			continue
		}
		if layer.session == nil {
			var err error
			layer.session, err = invariants.NewQuerySession(t.Schema, layer.files, invariants.Options{})
			if err != nil {
				return // not reached: the same files are in force
			}
		}
		for _, i := range of {
			Explain(ctx, layer.session, t, v, found[i:i+1])
		}
	}
}

// Explain adds reasons to the first MaxExplained violations.
func Explain(ctx context.Context, session *invariants.QuerySession, t *change.Txn, v change.View,
	found []change.Violation) {
	for i := range found[:min(len(found), MaxExplained)] {
		reasons, err := session.Why(ctx, t, v, found[i])
		if err != nil {
			reasons = []change.Reason{{Kind: change.ReasonUnknown, Goal: err.Error()}}
		}
		found[i].Why = reasons
	}
}

// List returns the rules of a file system, by number; a site's own come last.
func (r *Rules) List(fs string) []invariants.Rule {
	system, ok := r.set.Load().systems[fs]
	if !ok {
		return nil
	}
	var out []invariants.Rule
	for _, layer := range system.layers {
		out = append(out, byNumber(layer.engine.Rules())...)
	}
	return out
}

// byNumber sorts rules by number.
func byNumber(rules []invariants.Rule) []invariants.Rule {
	rules = slices.Clone(rules)
	slices.SortStableFunc(rules, func(a, b invariants.Rule) int {
		return CompareNames(a.Name,
			b.Name)
	})
	return rules
}

// CompareNames orders the names of rules of one file system by number: a shorter name has a smaller
// number.
func CompareNames(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }
