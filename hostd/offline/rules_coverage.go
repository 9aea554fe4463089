package offline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"fsward/hostd/guard"
	"fsward/interp"
	"fsward/interp/detect"
	"fsward/invariants"
	"fsward/invariants/facts"
)

// CoverageConfig selects the rules whose coverage is measured, and the tests that measure it.
type CoverageConfig struct {
	Rules guard.RulesConfig
	Cases string       // a folder of unit tests, or a bundle; "" for none
	Logs  []ReplayDisk // a recording of one disk; none: no replay
	FS    string       // of the recording: detect.Auto or a name
	// All measures the built-in rules beside those of bundles, too.
	All bool
}

// A CoveredClause is the part of a clause that the tests and the replay reached.
type CoveredClause struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Rule   string `json:"rule,omitempty"` // "" for a helper
	Helper string `json:"helper,omitempty"`
	True   int    `json:"true"`    // how often the clause was true
	Goals  int    `json:"goals"`   // in its body
	Passed int    `json:"reached"` // of these, how many were true in their order
	// Stopped is the first goal that never was true; "" if there is none.
	Stopped string `json:"stopped,omitempty"`
	// Rows is the number of rows if the clause is a table; True is then the number of rows that
	// were ever found.
	Rows int `json:"rows,omitempty"`
}

// A coverageRun measures the coverage of the rules of each file system.
type coverageRun struct {
	cfg     CoverageConfig
	source  *guard.Source
	engines map[string][]*invariants.CoveredEngine
	// the clauses that could not be judged, each once
	undecided []string
}

// CoverRules runs the unit tests and the replay, and returns the coverage of each clause, by file
// and line. undecided has a line for each clause that could not be judged to its end.
func CoverRules(ctx context.Context, cfg CoverageConfig) (clauses []CoveredClause,
	undecided []string, err error) {
	r := &coverageRun{cfg: cfg, engines: map[string][]*invariants.CoveredEngine{}}
	var cases *caseFiles
	if cfg.Cases != "" {
		if cases, err = findCases(cfg.Cases, &r.cfg.Rules); err != nil {
			return nil, nil, err
		}
	}
	if r.source, err = r.cfg.Rules.Source(); err != nil {
		return nil, nil, err
	}
	if cases != nil {
		err = cases.each("", func(shown, fs string, c *facts.Case, mistake string) error {
			if mistake != "" {
				return errors.New(mistake)
			}
			return r.judge(ctx, fs, interp.Part{Txn: c.Txn, View: c.View})
		})
	}
	if err == nil && len(cfg.Logs) > 0 {
		err = r.replay(ctx)
	}
	if err != nil {
		return nil, nil, err
	}
	return r.clauses(), r.undecided, nil
}

// judge judges a transaction by all rules that are measured.
func (r *coverageRun) judge(ctx context.Context, fs string, p interp.Part) error {
	engines, ok := r.engines[fs]
	if !ok {
		layers, err := r.source.Layers(fs)
		if err != nil {
			return err
		}
		if len(layers) == 0 {
			return guard.NoRulesError{FS: fs, Dir: r.cfg.Rules.Dir}
		}
		if len(r.cfg.Rules.Add) > 0 && !r.cfg.All {
			layers = layers[len(layers)-1:]
		}
		options := r.source.Options()
		options.Steps, options.StepsPerRecord = 50_000_000, 10_000
		for _, files := range layers {
			e, err := invariants.NewCovered(detect.Schema(fs), files, options)
			if err != nil {
				return err
			}
			engines = append(engines, e)
		}
		r.engines[fs] = engines
	}
	for _, e := range engines {
		for _, u := range e.Check(ctx, p.Txn, p.View).Undecided {
			if !slices.Contains(r.undecided, u) {
				r.undecided = append(r.undecided, u)
			}
		}
	}
	return nil
}

// replay judges each commit and log commit of the recording.
func (r *coverageRun) replay(ctx context.Context) error {
	query := QueryConfig{Base: r.cfg.Logs[0].Base, FS: r.cfg.FS}
	return query.replay(ctx, r.cfg.Logs[0].Log, func(v *detect.Volumes, _ int,
		obs interp.Observation) error {
		parts := obs.Logs
		if obs.Txn != nil {
			parts = append([]interp.Part{{Txn: obs.Txn, View: obs.View}}, parts...)
		}
		for _, p := range parts {
			if err := r.judge(ctx, v.FS(), p); err != nil {
				return err
			}
		}
		return nil
	})
}

// clauses returns the coverage of each clause.
func (r *coverageRun) clauses() (out []CoveredClause) {
	tables := map[string]*tableRows{}
	for _, engines := range r.engines {
		for _, e := range engines {
			seen := map[string]int{} // rows of a table, by its file
			for _, c := range e.Coverage.Clauses {
				if strings.HasSuffix(c.Text.File, ".csv") {
					t := tables[c.Text.File]
					if t == nil {
						t = &tableRows{helper: c.Head}
						tables[c.Text.File] = t
					}
					t.note(seen[c.Text.File], c.Done() > 0)
					seen[c.Text.File]++
					continue
				}
				out = append(out, clauseOf(c))
			}
		}
	}
	for file, t := range tables {
		out = append(out, CoveredClause{File: file, Line: 1, Helper: t.helper, Rows: len(t.found),
			True: t.count()})
	}
	slices.SortStableFunc(out, func(a, b CoveredClause) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return out
}

// clauseOf returns the coverage of a clause.
func clauseOf(c *invariants.ClauseCoverage) CoveredClause {
	one := CoveredClause{File: c.Text.File, Line: c.Text.Line, Rule: c.Rule, True: c.Done(),
		Goals: len(c.Goals), Passed: c.Reached()}
	if c.Rule == "" {
		one.Helper = c.Head
	}
	if one.Passed < len(c.Goals) {
		one.Stopped = c.Goals[one.Passed]
	}
	return one
}

// tableRows says which rows of a table were found. The rules of each file system have the table.
type tableRows struct {
	helper string
	found  []bool
}

func (t *tableRows) note(row int, found bool) {
	for len(t.found) <= row {
		t.found = append(t.found, false)
	}
	t.found[row] = t.found[row] || found
}

func (t *tableRows) count() (n int) {
	for _, found := range t.found {
		if found {
			n++
		}
	}
	return n
}

// WriteCoverage writes the coverage for people: a line for each clause, and below it the goal that
// never was true.
func WriteCoverage(w io.Writer, clauses []CoveredClause) {
	reached := 0
	fmt.Fprintf(w, "%-32s %8s %9s  %s\n", "CLAUSE", "TRUE", "GOALS", "PLACE")
	for _, c := range clauses {
		if c.Rows > 0 {
			fmt.Fprintf(w, "%-32s %8d of %d rows  %s\n", "  "+c.Helper, c.True, c.Rows, c.File)
		} else {
			c.writeLine(w)
		}
		if c.Stopped != "" {
			fmt.Fprintf(w, "%-32s never true: %s\n", "", c.Stopped)
		}
		if c.True > 0 {
			reached++
		}
	}
	fmt.Fprintf(w, "%d of %d clauses were true at least once\n", reached, len(clauses))
}

func (c *CoveredClause) writeLine(w io.Writer) {
	fmt.Fprintf(w, "%-32s %8d %5d/%-3d  %s:%d\n", cmp.Or(c.Rule, "  "+c.Helper), c.True, c.Passed,
		c.Goals, c.File, c.Line)
}
