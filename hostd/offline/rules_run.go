package offline

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"fsward/change"
	"fsward/hostd/guard"
	"fsward/invariants"
	"fsward/invariants/facts"
)

// RunConfig says which rules to run over which facts.
type RunConfig struct {
	Rules []string // paths of rule files
	// paths of fact files, plain or compressed with zstd; together they are one transaction
	Facts  []string
	Engine string
	Why    bool
	Timing bool
}

// A FactsRun is the result of rules over a transaction of facts.
type FactsRun struct {
	Records    int              `json:"records"`
	LoadNS     int64            `json:"load_ns"`  // reading the facts, loading and compiling the rules
	IndexNS    int64            `json:"index_ns"` // sorting the state and making its lookup tables
	CheckNS    int64            `json:"check_ns"` // checking, and indexing the changes for rules
	Verdict    string           `json:"verdict"`
	Violations []FactsViolation `json:"violations"`
	Undecided  []string         `json:"undecided,omitempty"`
	RuleTimes  []guard.RuleTime `json:"rule_times,omitempty"`

	Outcome change.Outcome `json:"-"`
}

// A FactsViolation is a violation found in facts.
type FactsViolation struct {
	Rule string          `json:"rule"` // number or name of the rule without its file system
	Tree any             `json:"tree"` // a number, or a kind of object
	ID   string          `json:"id"`
	Why  []change.Reason `json:"why,omitempty"`

	doc string
}

// RunRules runs rules over facts.
func RunRules(ctx context.Context, cfg RunConfig) (*FactsRun, error) {
	start := time.Now()
	files, err := readRuleFiles(cfg.Rules)
	if err != nil {
		return nil, err
	}
	f, err := facts.Load(cfg.Facts...)
	if err != nil {
		return nil, err
	}
	options := invariants.Options{OpenVocabulary: true}
	engine, err := guard.NewEngine(cfg.Engine, f.Txn.Schema, files, options)
	if err != nil {
		return nil, err
	}
	out := &FactsRun{Records: len(f.Txn.Records),
		LoadNS: (time.Since(start) - f.Indexing).Nanoseconds(), IndexNS: f.Indexing.Nanoseconds()}
	start = time.Now()
	v := engine.Check(ctx, f.Txn, f.View)
	out.CheckNS = time.Since(start).Nanoseconds()
	if cfg.Timing {
		out.RuleTimes = guard.EngineTimes(engine)
	}
	if cfg.Why && len(v.Violations) > 0 {
		prober, err := invariants.NewQuerySession(f.Txn.Schema, files, options)
		if err != nil {
			return nil, err
		}
		guard.Explain(ctx, prober, f.Txn, f.View, v.Violations)
	}
	out.Verdict, out.Outcome, out.Undecided = v.Outcome.String(), v.Outcome, v.Undecided
	out.Violations = make([]FactsViolation, len(v.Violations))
	for i, x := range v.Violations {
		out.Violations[i] = FactsViolation{bareName(x.Rule), guard.TreeJSON(x.Tree), x.ID, x.Why, x.Doc}
	}
	return out, nil
}

// bareName returns the name of a rule without its file system. That of a site's rule stays as it
// is.
func bareName(rule string) string {
	if strings.HasPrefix(rule, invariants.SitePrefix) {
		return rule
	}
	if _, name, ok := strings.Cut(rule, "/"); ok {
		return name
	}
	return rule
}

func readRuleFiles(paths []string) ([]invariants.File, error) {
	var files []invariants.File
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			return nil, err
		}
		files = append(files, invariants.File{Name: p, Text: text})
	}
	return files, nil
}

// WriteTable writes the run for people.
func (r *FactsRun) WriteTable(w io.Writer) {
	rule, tree, id := len("RULE"), len("TREE"), len("ID")
	for _, v := range r.Violations {
		rule, tree, id = max(rule, len(v.Rule)), max(tree, len(fmt.Sprint(v.Tree))), max(id, len(v.ID))
	}
	row := func(values ...any) {
		line := fmt.Sprintf("%-*v  %-*v  %-*v  %v", rule, values[0], tree, values[1], id, values[2],
			values[3])
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
	if len(r.Violations) > 0 {
		row("RULE", "TREE", "ID", "PROPERTY")
	}
	for _, v := range r.Violations {
		row(v.Rule, v.Tree, v.ID, v.doc)
		guard.WriteReasons(w, v.Why)
	}
	for _, u := range r.Undecided {
		fmt.Fprintf(w, "undecided: %s\n", u)
	}
	for _, t := range r.RuleTimes {
		fmt.Fprintf(w, "rule %-8s %10.3f ms\n", bareName(t.Rule), float64(t.NS)/1e6)
	}
	fmt.Fprintf(w, "%s: %d records, %d violations; load %s, check %s\n", r.Verdict, r.Records,
		len(r.Violations),
		guard.DurationText(r.LoadNS), guard.DurationText(r.CheckNS))
}
