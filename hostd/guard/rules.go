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
	"time"

	"fsward/change"
	"fsward/hostd/memory"
	"fsward/interp/detect"
	"fsward/invariants"
)

// RulesConfig says which rules judge, and how.
type RulesConfig struct {
	Dir    string // rules in Dir/<file system>/*.pl; "" for those built in
	Engine string // one of Engines; "" for the first
	Why    bool   // explain each violation
	Timing bool   // tell what each rule cost

	Patient  bool                  // no guest waits: rules may take any time
	Progress func(done, total int) // told of the change records that are judged, if not nil
	// Memory is for judging a whole file system, bytes: beyond half of it change records are not held, and a quarter is
	// for what rules sum up then. 0: DefaultMemory.
	Memory uint64
}

// Rules judges transactions. The set of rules in it can be replaced while it is in use.
type Rules struct {
	config RulesConfig
	set    atomic.Pointer[ruleSet]
}

// A ruleSet has one engine for each file system, since a disk's file system may appear later.
type ruleSet struct {
	engines map[string]invariants.Engine
	files   map[string][]invariants.File
	probers map[string]*invariants.QuerySession // made when a violation is first explained
}

// MemoryBytes returns Memory, or its default.
func (c RulesConfig) MemoryBytes() uint64 {
	if c.Memory == 0 {
		return memory.Default
	}
	return c.Memory
}

// Load loads the rules of every file system. A rule that does not load is an error that names its file
// and line.
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
		probers: map[string]*invariants.QuerySession{}}
	for _, name := range FileSystems() {
		files, err := RuleFiles(c.Dir, name)
		if err != nil {
			return nil, err
		}
		if files == nil {
			continue
		}
		set.files[name] = files
		if set.engines[name], err = NewEngine(c.Engine, detect.Schema(name), files, invariants.Options{Progress: c.Progress}); err != nil {
			return nil, fmt.Errorf("rules of %s: %w", name, err)
		}
	}
	if len(set.engines) == 0 {
		return nil, fmt.Errorf("no rules in %s: expected files such as %s", c.Dir, filepath.Join(c.Dir, "btrfs", "mine.pl"))
	}
	return set, nil
}

// FileSystems lists the file systems that rules can be written for.
func FileSystems() []string {
	return slices.DeleteFunc(detect.Names(), func(name string) bool { return name == detect.Auto })
}

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

// Reload returns a function that puts the rules, read again, in the place of those in force: between two
// transactions, and without one that is not judged. If they do not load, nothing changes.
func (r *Rules) Reload() (swap func(), err error) {
	set, err := r.config.load()
	if err != nil {
		return nil, err
	}
	return func() { r.set.Store(set) }, nil
}

const (
	// maxCheck bounds the time that the rules take for one commit. A guest's kernel reports a write that
	// takes two minutes as hung; a commit that is not decided by then is refused like a violation.
	maxCheck = 30 * time.Second
	// maxExplained bounds the violations that are explained of one commit.
	MaxExplained = 20
)

// Check judges a transaction by the rules of its file system.
func (r *Rules) Check(ctx context.Context, t *change.Txn, v change.View) invariants.Verdict {
	if !r.config.Patient {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, maxCheck)
		defer cancel()
	}
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

// CheckStream judges a file system that is too large to be held by its rules.
func (r *Rules) CheckStream(ctx context.Context, fs string, s change.Stream, v change.View) invariants.Verdict {
	engine, ok := r.set.Load().engines[fs]
	if !ok {
		return invariants.Verdict{Undecided: []string{"there are no rules for " + fs}}
	}
	streams, ok := engine.(invariants.StreamEngine)
	if !ok {
		return invariants.Verdict{Undecided: []string{"the engine " + r.config.Engine + " judges only what is held in memory, and the file system is too large"}}
	}
	return streams.CheckStream(ctx, s, v, r.config.MemoryBytes()/4)
}

// explain adds to violations what made their rules find them.
func (s *ruleSet) explain(ctx context.Context, t *change.Txn, v change.View, found []change.Violation) {
	if len(found) == 0 {
		return
	}
	prober, ok := s.probers[t.Schema.FS]
	if !ok {
		var err error
		if prober, err = invariants.NewQuerySession(t.Schema, s.files[t.Schema.FS], invariants.Options{}); err != nil {
			return // not reached: the same files are in force
		}
		s.probers[t.Schema.FS] = prober
	}
	Explain(ctx, prober, t, v, found)
}

func Explain(ctx context.Context, prober *invariants.QuerySession, t *change.Txn, v change.View, found []change.Violation) {
	for i := range found[:min(len(found), MaxExplained)] {
		reasons, err := prober.Why(ctx, t, v, found[i])
		if err != nil {
			reasons = []change.Reason{{Kind: change.ReasonUnknown, Goal: err.Error()}}
		}
		found[i].Why = reasons
	}
}

// List describes the rules of a file system, by number.
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
	slices.SortStableFunc(rules, func(a, b invariants.Rule) int { return CompareNames(a.Name, b.Name) })
	return rules
}

// CompareNames orders names of rules of one file system by number: a shorter name has the smaller one.
func CompareNames(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }
