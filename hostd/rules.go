package hostd

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"fsward/change"
	"fsward/interp/detect"
	"fsward/invariants"
)

// Rules holds one engine for each file system, since a disk's file system may appear later.
type Rules struct {
	engines map[string]invariants.Engine
}

// LoadRules loads the rules of every file system: those built in, or those of dir/<file system>/*.pl
// where dir is not "". A rule that does not load is an error that names its file and line.
func LoadRules(dir string) (*Rules, error) {
	r := &Rules{engines: make(map[string]invariants.Engine)}
	for _, fs := range detect.Names() {
		schema := detect.Schema(fs)
		if schema == nil {
			continue
		}
		files, err := ruleFiles(dir, fs)
		if err != nil {
			return nil, err
		}
		if r.engines[fs], err = invariants.NewReference(schema, files, invariants.Options{}); err != nil {
			return nil, fmt.Errorf("rules of %s: %w", fs, err)
		}
	}
	return r, nil
}

func ruleFiles(dir, fs string) ([]invariants.File, error) {
	if dir == "" {
		return invariants.Builtin(fs)
	}
	return invariants.ReadDir(filepath.Join(dir, fs))
}

// maxCheck bounds the time that the rules take for one commit. A guest's kernel reports a write that
// takes two minutes as hung; a commit that is not decided by then is refused like a violation.
const maxCheck = 30 * time.Second

// Check judges a transaction by the rules of its file system.
func (r *Rules) Check(ctx context.Context, t *change.Txn, v change.View) invariants.Verdict {
	ctx, cancel := context.WithTimeout(ctx, maxCheck)
	defer cancel()
	engine, ok := r.engines[t.Schema.FS]
	if !ok {
		return invariants.Verdict{Undecided: []string{"there are no rules for " + t.Schema.FS}}
	}
	return engine.Check(ctx, t, v)
}

// List describes the rules of a file system, by number.
func (r *Rules) List(fs string) []invariants.Rule {
	engine, ok := r.engines[fs]
	if !ok {
		return nil
	}
	rules := slices.Clone(engine.Rules())
	// A shorter name has the smaller number: all begin with the file system's.
	slices.SortStableFunc(rules, func(a, b invariants.Rule) int {
		return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	return rules
}
