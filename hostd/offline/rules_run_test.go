package offline

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fsward/hostd/guard"
	"fsward/interp/detect"
	"fsward/invariants"
	"fsward/invariants/facts"
	"fsward/shareddata"
)

// TestRunThesisRules checks on each engine that the rules as the thesis prints them find what
// SWI-Prolog finds, in every shared transaction.
func TestRunThesisRules(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob(filepath.Join(shareddata.Path(t, "rules"), "*.pl.zst"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no transactions: %v", err)
	}
	for _, p := range paths {
		name := strings.TrimSuffix(filepath.Base(p), ".pl.zst")
		for _, engine := range guard.Engines {
			t.Run(name+"/"+engine, func(t *testing.T) {
				t.Parallel()
				run, err := RunRules(context.Background(),
					RunConfig{Rules: []string{"../../invariants/testdata/thesis.pl"},
						Facts: []string{p}, Engine: engine})
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, v := range run.Violations {
					got = append(got, fmt.Sprintf("%s\t%v\t%s", v.Rule, v.Tree, v.ID))
				}
				sort.Strings(got)
				text, err := os.ReadFile(strings.TrimSuffix(p, ".pl.zst") + ".expected.tsv")
				if err != nil {
					t.Fatal(err)
				}
				want := strings.Split(strings.TrimSpace(string(text)), "\n")
				sort.Strings(want)
				if d := cmp.Diff(want, got); d != "" || len(run.Undecided) > 0 {
					t.Errorf("violations (-SWI-Prolog +%s):\n%s%v", engine, d, run.Undecided)
				}
			})
		}
	}
}

const casesDir = "../../invariants/testdata/cases"

// caseSystems are the file systems whose rules have cases. Those of tables are tested in
// interp/volume with tables that real tools write, and with changes of their bytes.
var caseSystems = slices.DeleteFunc(guard.FileSystems(),
	func(name string) bool { return name == "volume" })

// eachCase visits the cases of the rules of a file system.
func eachCase(t *testing.T, fs string, visit func(path string, c *facts.Case)) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(casesDir, fs, "*.pl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range paths {
		c, err := facts.LoadCase(detect.Schema(fs), p)
		if err != nil {
			t.Fatal(err)
		}
		visit(p, c)
	}
}

// TestCases checks that every shipped rule has a case that holds and one that is violated, and that
// all cases pass on each engine.
func TestCases(t *testing.T) {
	t.Parallel()
	results, err := TestRules(context.Background(), "", casesDir, guard.RulesConfig{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if !r.Passed {
			t.Errorf("%s (%s): %v %s", r.File, r.Engine, r.Diff, r.Error)
		}
	}
	rules, err := guard.RulesConfig{}.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, fs := range caseSystems {
		holds, violated := map[string]bool{}, map[string]bool{}
		eachCase(t, fs, func(_ string, c *facts.Case) {
			for _, e := range c.Expect {
				violated[e.Rule] = true
			}
			if len(c.Expect) == 0 {
				for _, r := range c.Rules {
					holds[r] = true
				}
			}
		})
		for _, r := range rules.List(fs) {
			if name := bareName(r.Name); !holds[name] || !violated[name] {
				t.Errorf("%s needs a case that holds (has %v) and one that is violated (has %v) in %s/%s",
					r.Name, holds[name], violated[name], casesDir, fs)
			}
		}
	}
}

// TestCasesExplained checks that every violation of the cases can be explained, and that the
// explanation begins with a change.
func TestCasesExplained(t *testing.T) {
	for _, fs := range caseSystems {
		paths, err := filepath.Glob(filepath.Join(casesDir, fs, "*violated.pl"))
		if err != nil || len(paths) == 0 {
			t.Fatalf("no cases: %v", err)
		}
		files, err := invariants.Builtin(fs)
		if err != nil {
			t.Fatal(err)
		}
		rules, err := guard.RulesConfig{Why: true}.Load()
		if err != nil {
			t.Fatal(err)
		}
		prober, err := invariants.NewQuerySession(detect.Schema(fs), files, invariants.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range paths {
			c, err := facts.LoadCase(detect.Schema(fs), p)
			if err != nil {
				t.Fatal(err)
			}
			found := rules.Check(context.Background(), c.Txn, c.View).Violations
			for _, v := range found[:min(len(found), guard.MaxExplained)] {
				record := false
				for _, r := range v.Why {
					record = record || r.Kind == "record"
					if r.Kind == "unknown" {
						t.Errorf("%s: %s %s: %s", p, v.Rule, v.ID, r.Goal)
					}
					if r.Kind != "record" {
						continue
					}
					if a, err := prober.Ask(context.Background(), c.Txn, c.View, r.Goal, 1); err != nil ||
						len(a.Rows) != 1 {
						t.Errorf("%s: the reason %s does not hold: %v", p, r.Goal, err)
					}
				}
				if !record {
					t.Errorf("%s: %s %s has no record among its reasons: %v", p, v.Rule, v.ID, v.Why)
				}
			}
		}
	}
}
