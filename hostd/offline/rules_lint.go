package offline

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"fsward/hostd/guard"
	"fsward/interp/detect"
	"fsward/invariants"
)

// Levels of findings.
const (
	LintError   = "error"   // the rules do not load
	LintWarning = "warning" // the rules load, but lack text that reports show, or cost a square
	LintNote    = "note"    // worth knowing
)

// A Finding is a remark of lint about a rule file.
type Finding struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Level  string `json:"level"`
	Clause string `json:"clause,omitempty"` // head of the clause
	Text   string `json:"text"`             // what is wrong, and a hint if there is one
}

func (f Finding) String() string {
	if f.Clause == "" {
		return fmt.Sprintf("%s:%d: %s: %s", f.File, f.Line, f.Level, f.Text)
	}
	return fmt.Sprintf("%s:%d: %s: in %s: %s", f.File, f.Line, f.Level, f.Clause, f.Text)
}

// LintRules finds mistakes in files, or in all .pl files of folders. The file system is fs, or if
// that is "" the one that the file's folder is named for. Then the other files of the folder are
// read too, since they may define helpers.
func LintRules(fs string, paths []string) ([]Finding, error) {
	sets, err := lintSets(fs, paths)
	if err != nil {
		return nil, err
	}
	var out []Finding
	for _, s := range sets {
		found := s.lint()
		slices.SortStableFunc(found, func(a, b Finding) int {
			return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
		})
		out = append(out, found...)
	}
	return out, nil
}

// A lintSet is a set of files that are loaded together.
type lintSet struct {
	fs    string
	files []invariants.File
	named map[string]bool // files that were asked for
}

// lintSets reads the files, one set for each file system.
func lintSets(fs string, paths []string) ([]lintSet, error) {
	var sets []lintSet
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return nil, err
		}
		dir := filepath.Dir(p)
		if info.IsDir() {
			dir = p
		}
		name, err := fileSystemOf(fs, dir)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p, err)
		}
		var files []invariants.File
		if fs != "" && !info.IsDir() {
			text, err := os.ReadFile(p)
			if err != nil {
				return nil, err
			}
			files = []invariants.File{{Name: filepath.ToSlash(filepath.Clean(p)), Text: text}}
		} else if files, err = invariants.ReadDir(dir); err != nil {
			return nil, err
		}
		named := map[string]bool{}
		for _, f := range files {
			if info.IsDir() || filepath.Base(f.Name) == filepath.Base(p) {
				named[f.Name] = true
			}
		}
		if len(named) == 0 {
			return nil, fmt.Errorf("%s: the name of a rule file must end in .pl", p)
		}
		sets = addSet(sets, lintSet{name, files, named})
	}
	return sets, nil
}

// addSet merges a set into the set of the same file system, so that files given together are loaded
// together.
func addSet(sets []lintSet, s lintSet) []lintSet {
	for i := range sets {
		if sets[i].fs != s.fs {
			continue
		}
		for _, f := range s.files {
			same := func(g invariants.File) bool { return g.Name == f.Name }
			if !slices.ContainsFunc(sets[i].files, same) {
				sets[i].files = append(sets[i].files, f)
			}
		}
		for n := range s.named {
			sets[i].named[n] = true
		}
		return sets
	}
	return append(sets, s)
}

// fileSystemOf returns fs, or if that is "" the file system that a folder is named for.
func fileSystemOf(fs, dir string) (string, error) {
	if fs == "" {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return "", err
		}
		fs = filepath.Base(abs)
		if !slices.Contains(guard.FileSystems(), fs) {
			return "", fmt.Errorf("for which file system? Put it into a folder named %s, or give --fs",
				strings.Join(guard.FileSystems(), " or "))
		}
	}
	if !slices.Contains(guard.FileSystems(), fs) {
		return "", fmt.Errorf("file system %q is not one of %s", fs,
			strings.Join(guard.FileSystems(), ", "))
	}
	return fs, nil
}

// lint loads the rules and returns its findings about the named files.
func (s lintSet) lint() []Finding {
	engine, err := guard.NewEngine("", detect.Schema(s.fs), s.files, invariants.Options{})
	if err != nil {
		return findingsOf(err)
	}
	var out []Finding
	for _, r := range engine.Rules() {
		file, line := splitSource(r.Source)
		if !s.named[file] {
			continue
		}
		for _, missing := range []struct{ text, what string }{
			{r.Doc, "a sentence that states its property: `% Rule N. …`"},
			{r.Origin, "a line that says where its property comes from: `% Source: …`"},
			{r.User, "a line that says what is lost if it does not hold: `% For the user: …`"},
		} {
			if missing.text == "" {
				out = append(out, Finding{file, line, LintWarning, "", r.Name + " lacks " + missing.what})
			}
		}
	}
	for _, l := range invariants.Singletons(s.files) {
		if s.named[l.File] {
			out = append(out, Finding{l.File, l.Line, LintWarning, l.Clause, l.Text})
		}
	}
	return append(out, engineNotes(engine, s.named)...)
}

// findingsOf splits the errors of a set that does not load into findings.
func findingsOf(err error) []Finding {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var out []Finding
		for _, e := range joined.Unwrap() {
			out = append(out, findingsOf(e)...)
		}
		return out
	}
	if l, ok := errors.AsType[invariants.LoadError](err); ok {
		return []Finding{{l.File, l.Line, LintError, l.Clause, l.Text}}
	}
	return []Finding{{"", 0, LintError, "", err.Error()}}
}

// splitSource splits "FILE:LINE".
func splitSource(source string) (file string, line int) {
	i := strings.LastIndexByte(source, ':')
	if i < 0 {
		return source, 0
	}
	line, _ = strconv.Atoi(source[i+1:])
	return source[:i], line
}

// engineNotes notes the clauses in the named files that the engine cannot run itself, and their
// slow goals.
func engineNotes(e invariants.Engine, named map[string]bool) []Finding {
	c, ok := e.(*invariants.Compiled)
	if !ok {
		return nil
	}
	var out []Finding
	note := func(source, level, text string) {
		if file, line := splitSource(source); named[file] {
			out = append(out, Finding{file, line, level, "", text})
		}
	}
	for _, f := range c.Fallbacks() {
		note(f.Source, LintNote, fmt.Sprintf("%s runs on the slow reference engine here: %s", f.Rule,
			f.Why))
	}
	for _, r := range c.Rules() {
		plans, err := c.Explain(r.Name)
		if err != nil {
			continue // not reached: the rule is one of this engine
		}
		for _, p := range plans {
			noteCost(r, p, note)
		}
	}
	return out
}

// noteCost notes the slow goals of a plan. It warns of goals that make the bound of its cost a
// square, unless the comment block of the rule says why the rule is cheap.
func noteCost(r invariants.Rule, p invariants.Plan, note func(source, level, text string)) {
	for _, s := range p.Steps {
		if s.Warning != "" {
			note(p.Source, LintNote, fmt.Sprintf("%s, %s: %s", r.Name, s.Goal, s.Warning))
		}
	}
	if r.Cost != "" {
		return
	}
	for _, x := range p.Bound() {
		if x.Square() {
			note(p.Source, LintWarning, fmt.Sprintf("%s, %s", r.Name, p.SquareWarning(x)))
		}
	}
}
