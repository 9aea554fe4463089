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

// A Subject is a transaction with known violations.
type Subject struct {
	Name string
	Kind string // altered object and field; "" if the commit is sound, or for a unit test
	Txn  *change.Txn
	View change.View

	mu    sync.Mutex          // guards View, which one goroutine at a time may use
	rules []string            // rules with an expectation; nil: all
	want  map[string][]string // expected violations by the number of their rule
}

// covers reports whether the subject has an expectation about a rule.
func (s *Subject) covers(rule string) bool {
	return s.rules == nil || slices.Contains(s.rules, rule)
}

// caseSuffix is the suffix of the names of unit tests; commits do not have it.
const caseSuffix = ".pl"

// Cases loads the unit tests of rules in a folder and its subfolders.
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

// Learn takes the present verdicts of the rules as the expectations for subjects. Other tests check
// that these verdicts are right. It returns all sound subjects, and one altered subject for each
// kind and set of violated rules. An undecided verdict is an error.
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

// byRule returns the violations of a verdict by the number of their rule, each list sorted.
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

// errInvalid means that a mutant does not load. Loading notices it.
var errInvalid = errors.New("does not load")

// notice returns the name of the first subject for which a mutant gives another verdict, and "" if
// no subject notices the mutant.
func notice(ctx context.Context, schema *change.Schema, m *Mutant,
	subjects []*Subject) (string, error) {
	var engine invariants.Engine // nil if no clause is left
	hasRule := func(f invariants.File) bool { return bytes.Contains(f.Text, []byte("violation(")) }
	if slices.ContainsFunc(m.files, hasRule) {
		var err error
		if engine, err = invariants.NewCompiled(schema, m.files, invariants.Options{}); err != nil {
			return "", errInvalid
		}
	}
	for _, s := range subjects {
		if !slices.ContainsFunc(m.rules, s.covers) {
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
			if s.covers(rule) && !slices.Equal(s.want[rule], got[rule]) {
				return s.Name, nil
			}
		}
	}
	return "", nil
}

// checkTime bounds a check, since a rule without its narrowing goal may visit all objects. A check
// that exceeds it is undecided. The guard would refuse the commit, so the subject notices the
// mutant.
const checkTime = 3 * time.Second

func check(ctx context.Context, engine invariants.Engine, s *Subject) invariants.Verdict {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	return engine.Check(ctx, s.Txn, s.View)
}
