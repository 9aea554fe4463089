package mutants

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"fsward/change"
	"fsward/interp/detect"
	"fsward/invariants"
	"fsward/invariants/facts"
)

// A Subject is a transaction whose violations are known.
type Subject struct {
	Name string
	Kind string // of the altered object; "" if nothing was altered
	Txn  *change.Txn
	View change.View

	mu    sync.Mutex          // one goroutine at a time uses a View
	rules []string            // rules to check it by; nil: all
	want  map[string][]string // expected violations by the number of their rule
}

// judgedBy reports whether the subject has expectations about a rule.
func (s *Subject) judgedBy(rule string) bool {
	return s.rules == nil || slices.Contains(s.rules, rule)
}

// caseSuffix is the suffix of the names of unit tests; commits do not have it.
const caseSuffix = ".pl"

// Cases loads the unit tests of rules below a folder.
func Cases(fileSystem, dir string) ([]*Subject, error) {
	var out []*Subject
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, caseSuffix) {
			return err
		}
		c, err := facts.LoadCase(detect.Schema(fileSystem), path)
		if err != nil {
			return err
		}
		s := &Subject{Name: filepath.Base(path), Txn: c.Txn, View: c.View,
			want: make(map[string][]string)}
		if len(c.Rules) > 0 {
			s.rules = c.Rules
		}
		for _, e := range c.Expect {
			s.want[e.Rule] = append(s.want[e.Rule], e.Tree+" "+e.ID)
		}
		for _, list := range s.want {
			slices.Sort(list)
		}
		out = append(out, s)
		return nil
	})
	return out, err
}

// Learn takes the present verdicts of the rules as the expectations for transactions: altered
// commits, whose verdicts other tests check, and sound ones. It returns the transactions that are
// worth checking again: the sound ones, and one altered commit for each kind and set of violated
// rules.
func Learn(ctx context.Context, schema *change.Schema, files []invariants.File,
	subjects []*Subject) ([]*Subject, error) {
	engine, err := invariants.NewCompiled(schema, files, invariants.Options{})
	if err != nil {
		return nil, err
	}
	var out []*Subject
	seen := make(map[string]bool)
	for _, s := range subjects {
		v := engine.Check(ctx, s.Txn, s.View)
		if len(v.Undecided) > 0 {
			return nil, fmt.Errorf("%s: undecided: %s", s.Name, v.Undecided[0])
		}
		s.want = byRule(v)
		kind := s.Kind + " " + strings.Join(slices.Sorted(maps.Keys(s.want)), " ")
		if s.Kind != "" && (len(s.want) == 0 || seen[kind]) {
			continue
		}
		seen[kind] = true
		out = append(out, s)
	}
	return out, nil
}

func byRule(v invariants.Verdict) map[string][]string {
	out := make(map[string][]string)
	for _, x := range v.Violations {
		_, rule, _ := strings.Cut(x.Rule, "/")
		out[rule] = append(out[rule], x.Tree+" "+x.ID)
	}
	for _, list := range out {
		slices.Sort(list)
	}
	return out
}

// errInvalid means that a mutant does not load, so that loading notices it.
var errInvalid = errors.New("does not load")

// notice returns the name of the first subject for which a mutant gives another verdict; "" if
// there is none.
func notice(ctx context.Context, schema *change.Schema, m *Mutant,
	subjects []*Subject) (string, error) {
	var engine invariants.Engine // nil if no clause is left
	if slices.ContainsFunc(m.files, func(f invariants.File) bool {
		return bytes.Contains(f.Text,
			[]byte("violation("))
	}) {
		var err error
		if engine, err = invariants.NewCompiled(schema, m.files, invariants.Options{}); err != nil {
			return "", errInvalid
		}
	}
	for _, s := range subjects {
		if !slices.ContainsFunc(m.rules, s.judgedBy) {
			continue
		}
		got := map[string][]string{}
		if engine != nil {
			s.mu.Lock()
			v := check(ctx, engine, s)
			s.mu.Unlock()
			if len(v.Undecided) > 0 {
				return s.Name + " (undecided)", nil
			}
			got = byRule(v)
		}
		for _, rule := range m.rules {
			if s.judgedBy(rule) && !slices.Equal(s.want[rule], got[rule]) {
				return s.Name, nil
			}
		}
	}
	return "", nil
}

// checkTime bounds a check: a rule without its narrowing goal may visit everything. A check that is
// undecided by then would be refused, and so notices the mutant.
const checkTime = 3 * time.Second

func check(ctx context.Context, engine invariants.Engine, s *Subject) invariants.Verdict {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	return engine.Check(ctx, s.Txn, s.View)
}
