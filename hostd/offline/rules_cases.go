package offline

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"fsward/hostd/guard"
	"fsward/interp/detect"
	"fsward/invariants"
	"fsward/invariants/bundle"
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

// caseFiles are the unit tests below a folder.
type caseFiles struct {
	from  fs.FS
	shown string   // the folder, in reports
	paths []string // in from
}

// findCases finds the unit tests below dir. If dir is a bundle, they are its tests, and its rules
// are added to those of the configuration.
func findCases(dir string, cfg *guard.RulesConfig) (*caseFiles, error) {
	c := &caseFiles{from: os.DirFS(dir), shown: dir}
	if isBundle(dir) {
		b, err := bundle.Open(dir)
		if err != nil {
			return nil, err
		}
		if c.from = b.Cases(); c.from == nil {
			return nil, fmt.Errorf("%s has no folder %s", dir, bundle.CasesDir)
		}
		c.shown = path.Join(dir, bundle.CasesDir)
		if !slices.Contains(cfg.Add, dir) {
			cfg.Add = append(slices.Clone(cfg.Add), dir)
		}
	} else if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	err := fs.WalkDir(c.from, ".", func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && (strings.HasSuffix(p, ".pl") || strings.HasSuffix(p, ".pl.zst")) {
			c.paths = append(c.paths, p)
		}
		return err
	})
	if err == nil && len(c.paths) == 0 {
		err = fmt.Errorf("no cases (.pl files) below %s", c.shown)
	}
	return c, err
}

// isBundle reports whether a path is a bundle: a file, or a folder with a manifest.
func isBundle(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return err == nil
	}
	_, err = os.Stat(filepath.Join(path, bundle.Manifest))
	return err == nil
}

// each reads each test for the schema of its file system: fileSystem, or if that is "" the one that
// its folder is named for. mistake says why a test cannot be read; it is "" otherwise.
func (c *caseFiles) each(fileSystem string,
	visit func(shown, fileSystem string, test *facts.Case, mistake string) error) error {
	for _, p := range c.paths {
		shown := path.Join(c.shown, p)
		name, err := fileSystemOf(fileSystem, path.Dir(shown))
		if err != nil {
			return fmt.Errorf("%s: %w", shown, err)
		}
		raw, err := fs.ReadFile(c.from, p)
		if err != nil {
			return err
		}
		mistake := ""
		test, err := facts.ReadCase(detect.Schema(name), shown, raw)
		if err != nil {
			mistake = err.Error()
		}
		if err := visit(shown, name, test, mistake); err != nil {
			return err
		}
	}
	return nil
}

// TestRules runs the unit tests below a folder, or those of a bundle, on every engine. Each .pl
// file is a case, for the file system fs, or if that is "" for the one that its folder is named
// for.
func TestRules(ctx context.Context, fileSystem, dir string,
	cfg guard.RulesConfig) ([]CaseResult, error) {
	cases, err := findCases(dir, &cfg)
	if err != nil {
		return nil, err
	}
	source, err := cfg.Source()
	if err != nil {
		return nil, err
	}
	engines := map[string]invariants.Engine{}
	var out []CaseResult
	err = cases.each(fileSystem, func(p, name string, c *facts.Case, mistake string) error {
		if mistake != "" {
			out = append(out, CaseResult{File: p, Error: mistake})
			return nil
		}
		for _, engineName := range guard.Engines {
			key := engineName + " " + name
			if engines[key] == nil {
				if engines[key], err = source.Engine(name, engineName); err != nil {
					return err
				}
			}
			out = append(out, runCase(ctx, p, engineName, engines[key], c))
		}
		return nil
	})
	return out, err
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
