package invariants_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fsward/change"
	"fsward/invariants"
)

// both runs the reference engine and the compiled one, and reports differences. Its verdict is the
// reference engine's.
type both struct {
	t         testing.TB
	reference invariants.Engine
	// nil if the compiler refuses rules whose mistakes the reference engine finds only at run time
	compiled invariants.Engine
	parallel invariants.Engine // compiled, with two workers
	rules    string
}

func newBoth(t testing.TB, s *change.Schema, rules string, o invariants.Options) *both {
	t.Helper()
	files := []invariants.File{{Name: "test.pl", Text: []byte(rules)}}
	b := &both{t: t, rules: rules}
	var err error
	if b.reference, err = invariants.NewReference(s, files, o); err != nil {
		t.Fatal(err)
	}
	if c, err := invariants.NewCompiled(s, files, o); err == nil {
		b.compiled = c
		if b.parallel, err = invariants.NewCompiled(s, files, invariants.Parallel(o)); err != nil {
			t.Fatal(err)
		}
	} else {
		t.Logf("the compiler says: %v", err)
	}
	return b
}

func (b *both) Rules() []invariants.Rule { return b.reference.Rules() }

func (b *both) Check(ctx context.Context, t *change.Txn, v change.View) invariants.Verdict {
	b.t.Helper()
	want := b.reference.Check(ctx, t, v)
	want.AddWitnesses(t)
	if b.compiled == nil {
		return want
	}
	for _, engine := range []invariants.Engine{b.compiled, b.parallel} {
		got := engine.Check(ctx, t, v)
		got.AddWitnesses(t)
		if d := difference(want, got); d != "" {
			b.t.Errorf("%s\n(-reference +compiled):\n%s", b.rules, d)
		}
	}
	return want
}

// difference compares two verdicts: violations with their text and witnesses, and undecided
// clauses. It ignores a rule that exceeds its budget in the reference engine, which counts other
// steps, or that has more violations than are reported.
func difference(want, got invariants.Verdict) string {
	var loose []string
	for _, u := range slices.Concat(want.Undecided, got.Undecided) {
		if strings.Contains(u, " steps that ") || strings.Contains(u, "stopped after") ||
			strings.Contains(u, "context") {
			rule, _, _ := strings.Cut(u, " ")
			loose = append(loose, rule)
		}
	}
	isLoose := func(rule string) bool { return slices.Contains(loose, rule) }
	clean := func(v invariants.Verdict) (violations []change.Violation, undecided []string) {
		for _, x := range v.Violations {
			if !isLoose(x.Rule) {
				violations = append(violations, x)
			}
		}
		for _, u := range v.Undecided {
			if rule, _, _ := strings.Cut(u, " "); !isLoose(rule) {
				undecided = append(undecided, u)
			}
		}
		return violations, undecided
	}
	wantV, wantU := clean(want)
	gotV, gotU := clean(got)
	return cmp.Diff(wantV, gotV) + cmp.Diff(wantU, gotU)
}

// answers runs goals over facts, each as the body of a rule, on both engines. want maps each goal
// to its values of X in the order of reports.
func answers(t *testing.T, text string, want map[string]string) {
	t.Helper()
	for goal, want := range want {
		f := parseFacts(t, text)
		e := newBoth(t, f.Txn.Schema, "violation(1, 5, X) :- "+goal+".",
			invariants.Options{OpenVocabulary: true})
		v := e.Check(context.Background(), f.Txn, f.View)
		var got []string
		for _, x := range v.Violations {
			got = append(got, x.ID)
		}
		if d := cmp.Diff(want, strings.Join(got, " ")); d != "" || len(v.Undecided) > 0 {
			t.Errorf("%s (-want +got):\n%s%v", goal, d, v.Undecided)
		}
	}
}
