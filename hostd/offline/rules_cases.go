package offline

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"fsward/hostd/guard"
	"fsward/interp/detect"
	"fsward/invariants"
	"fsward/invariants/facts"
)

// A CaseResult is the result of a unit test of rules on one engine.
type CaseResult struct {
	File   string `json:"file"`
	Engine string `json:"engine"`
	Passed bool   `json:"passed"`
	// "- " expected and not found, "+ " found and not expected
	Diff  []string `json:"diff,omitempty"`
	Error string   `json:"error,omitempty"` // the case could not be read, or was undecided
}

// TestRules runs the unit tests below a folder on every engine. Each .pl file is a case, for the
// file system fs, or if that is "" for the one that its folder is named for. It tests the rules in
// rulesDir, or the built-in ones if that is "".
func TestRules(ctx context.Context, fileSystem, dir, rulesDir string) ([]CaseResult, error) {
	var paths []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && (strings.HasSuffix(path, ".pl") ||
			strings.HasSuffix(path, ".pl.zst")) {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("no cases (.pl files) below %s", dir)
	}
	engines := map[string]invariants.Engine{}
	var out []CaseResult
	for _, p := range paths {
		name, err := fileSystemOf(fileSystem, filepath.Dir(p))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p, err)
		}
		c, err := facts.LoadCase(detect.Schema(name), p)
		if err != nil {
			out = append(out, CaseResult{File: p, Error: err.Error()})
			continue
		}
		for _, engineName := range guard.Engines {
			key := engineName + " " + name
			if engines[key] == nil {
				if engines[key], err = caseEngine(engineName, name, rulesDir); err != nil {
					return nil, err
				}
			}
			out = append(out, runCase(ctx, p, engineName, engines[key], c))
		}
	}
	return out, nil
}

// caseEngine returns an engine with the rules of a file system.
func caseEngine(engine, fileSystem, rulesDir string) (invariants.Engine, error) {
	files, err := guard.RuleFiles(rulesDir, fileSystem)
	if err != nil {
		return nil, err
	}
	if files == nil {
		return nil, fmt.Errorf("no rules in %s", filepath.Join(rulesDir, fileSystem))
	}
	return guard.NewEngine(engine, detect.Schema(fileSystem), files, invariants.Options{})
}

// runCase runs a case on one engine and compares the violations with those expected.
func runCase(ctx context.Context, path, engineName string, engine invariants.Engine,
	c *facts.Case) CaseResult {
	result := CaseResult{File: path, Engine: engineName}
	about := func(rule string) bool { return len(c.Rules) == 0 || slices.Contains(c.Rules, rule) }
	known := map[string]bool{}
	for _, r := range engine.Rules() {
		known[bareName(r.Name)] = true
	}
	wanted := map[string]bool{}
	for _, e := range c.Expect {
		if !known[e.Rule] {
			result.Error = fmt.Sprintf("%s: there is no rule %s", e, e.Rule)
			return result
		}
		wanted[e.String()] = true
	}
	for _, r := range c.Rules {
		if !known[r] {
			result.Error = fmt.Sprintf("rule(%s): there is no rule %s", r, r)
			return result
		}
	}
	v := engine.Check(ctx, c.Txn, c.View)
	for _, x := range v.Violations {
		rule := bareName(x.Rule)
		text := facts.Expectation{Rule: rule, Tree: x.Tree, ID: x.ID}.String()
		switch {
		case wanted[text]:
			delete(wanted, text)
		case about(rule):
			result.Diff = append(result.Diff, "+ "+text)
		}
	}
	for text := range wanted {
		result.Diff = append(result.Diff, "- "+text)
	}
	sort.Strings(result.Diff)
	for _, u := range v.Undecided {
		rule, _, _ := strings.Cut(u, " at ")
		if about(bareName(rule)) {
			result.Error = "undecided: " + u
		}
	}
	result.Passed = len(result.Diff) == 0 && result.Error == ""
	return result
}
