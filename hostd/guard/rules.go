package guard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync/atomic"

	"fsward/change"
	"fsward/hostd/memory"
	"fsward/interp/detect"
	"fsward/invariants"
)

// RulesConfig says which rules to load, and how to run them.
type RulesConfig struct {
	Dir    string // rules in Dir/<file system>/*.pl; "" for the built-in ones
	Engine string // one of Engines; "" for the first
	Why    bool   // explain each violation
	Timing bool   // measure the time of each rule

	Progress func(done, total int) // if not nil, receives the number of change records checked
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

// A ruleSet has an engine for each file system, since the file system of a disk may appear later.
type ruleSet struct {
	engines  map[string]invariants.Engine
	files    map[string][]invariants.File
	sessions map[string]*invariants.QuerySession // made when a violation is first explained
}

// MemoryBytes returns Memory, or its default.
func (c RulesConfig) MemoryBytes() uint64 {
	if c.Memory == 0 {
		return memory.Default
	}
	return c.Memory
}

// Load loads the rules of every file system. If a rule does not load, the error names its file and
// line.
func (c RulesConfig) Load() (*Rules, error) {
	r := &Rules{config: c}
	set, err := c.load()
	if err != nil {
		return nil, err
	}
	r.set.Store(set)
	return r, nil
}

func (c RulesConfig) load() (*ruleSet, error) {
	set := &ruleSet{engines: map[string]invariants.Engine{}, files: map[string][]invariants.File{},
		sessions: map[string]*invariants.QuerySession{}}
	for _, name := range FileSystems() {
		files, err := RuleFiles(c.Dir, name)
		if err != nil {
			return nil, err
		}
		if files == nil {
			continue
		}
		set.files[name] = files
		options := invariants.Options{Progress: c.Progress}
		if set.engines[name], err = NewEngine(c.Engine, detect.Schema(name), files, options); err != nil {
			return nil, fmt.Errorf("rules of %s: %w", name, err)
		}
	}
	if len(set.engines) == 0 {
		return nil, fmt.Errorf("no rules in %s: expected files such as %s", c.Dir,
			filepath.Join(c.Dir, "btrfs", "mine.pl"))
	}
	return set, nil
}

// FileSystems lists what rules can be written for: see detect.RuleSets.
func FileSystems() []string { return detect.RuleSets() }

// RuleFiles returns the rules of a file system; nil if dir has no folder for it.
func RuleFiles(dir, fileSystem string) ([]invariants.File, error) {
	if dir == "" {
		return invariants.Builtin(fileSystem)
	}
	files, err := invariants.ReadDir(filepath.Join(dir, fileSystem))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return files, err
}

// Reload reads the rules again and returns a function that puts them in force. The swap happens
// between two transactions, and every transaction is checked. If the rules do not load, nothing
// changes.
func (r *Rules) Reload() (swap func(), err error) {
	set, err := r.config.load()
	if err != nil {
		return nil, err
	}
	return func() { r.set.Store(set) }, nil
}

// MaxExplained bounds the violations of one commit that are explained.
const MaxExplained = 20

// Check checks a transaction by the rules of its file system.
func (r *Rules) Check(ctx context.Context, t *change.Txn, v change.View) invariants.Verdict {
	set := r.set.Load()
	engine, ok := set.engines[t.Schema.FS]
	if !ok {
		return invariants.Verdict{Undecided: []string{"there are no rules for " + t.Schema.FS}}
	}
	verdict := engine.Check(ctx, t, v)
	verdict.AddWitnesses(t)
	if r.config.Why {
		set.explain(ctx, t, v, verdict.Violations)
	}
	return verdict
}

// CheckStream checks a commit, or a file system, that is too large to be held in memory.
func (r *Rules) CheckStream(ctx context.Context, fs string, s change.Stream,
	v change.View) invariants.Verdict {
	engine, ok := r.set.Load().engines[fs]
	if !ok {
		return invariants.Verdict{Undecided: []string{"there are no rules for " + fs}}
	}
	streams, ok := engine.(invariants.StreamEngine)
	if !ok {
		return invariants.Verdict{
			Undecided: []string{
				"the engine " + r.config.Engine + " holds a file system in memory, and this one is too large",
			},
		}
	}
	return streams.CheckStream(ctx, s, v, r.config.MemoryBytes()/4)
}

// explain adds to violations the reasons for which their rules found them.
func (s *ruleSet) explain(ctx context.Context, t *change.Txn, v change.View,
	found []change.Violation) {
	if len(found) == 0 {
		return
	}
	session, ok := s.sessions[t.Schema.FS]
	if !ok {
		var err error
		session, err = invariants.NewQuerySession(t.Schema, s.files[t.Schema.FS], invariants.Options{})
		if err != nil {
			return // not reached: the same files are in force
		}
		s.sessions[t.Schema.FS] = session
	}
	Explain(ctx, session, t, v, found)
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

// List returns the rules of a file system, by number.
func (r *Rules) List(fs string) []invariants.Rule {
	engine, ok := r.set.Load().engines[fs]
	if !ok {
		return nil
	}
	return byNumber(engine.Rules())
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
