package offline

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"fsward/hostd/guard"
	"fsward/interp/detect"
	"fsward/invariants"
	"fsward/invariants/bundle"
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
	Column int    `json:"column,omitempty"` // from 1; 0: not known
	Level  string `json:"level"`
	Clause string `json:"clause,omitempty"` // head of the clause
	Text   string `json:"text"`             // what is wrong, and a hint if there is one
}

func (f Finding) String() string {
	if f.File == "" {
		return fmt.Sprintf("%s: %s", f.Level, f.Text)
	}
	at := invariants.Place(f.File, f.Line, f.Column)
	if f.Clause == "" {
		return fmt.Sprintf("%s: %s: %s", at, f.Level, f.Text)
	}
	return fmt.Sprintf("%s: %s: in %s: %s", at, f.Level, f.Clause, f.Text)
}

// LintRules finds mistakes in files, in all .pl files of folders, or in bundles. The file system is
// fs, or if that is "" the one that the file's folder is named for. Then the other files of the
// folder are read too, since they may define helpers. Findings about built-in rules that are
// unchanged are left out: builtin is their number.
func LintRules(fs string, paths []string) (out []Finding, builtin int, err error) {
	sets, err := lintSets(fs, paths)
	if err != nil {
		return nil, 0, err
	}
	for _, s := range sets {
		found := s.lint()
		all := len(found)
		found = slices.DeleteFunc(found, func(f Finding) bool {
			return f.Level != LintError && s.builtin[f.File]
		})
		builtin += all - len(found)
		slices.SortStableFunc(found, func(a, b Finding) int {
			return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line),
				cmp.Compare(a.Column, b.Column))
		})
		out = append(out, found...)
	}
	return out, builtin, nil
}

// A lintSet is a set of files that are loaded together.
type lintSet struct {
	fs      string
	files   []invariants.File
	named   map[string]bool // files that were asked for
	builtin map[string]bool // of these, those that are built in and unchanged
	shipped bool            // all are
}

// newLintSet returns a set of files, of which named were asked for.
func newLintSet(fs string, files []invariants.File, named map[string]bool) lintSet {
	s := lintSet{fs: fs, files: files, named: named, builtin: map[string]bool{}}
	known := map[string]bool{}
	own, err := invariants.Builtin(fs)
	for i := range own {
		known[string(own[i].Text)] = err == nil
	}
	s.shipped = !slices.ContainsFunc(files, func(f invariants.File) bool {
		return !known[string(f.Text)]
	})
	if !s.shipped { // otherwise lint is for the built-in rules themselves
		for _, f := range files {
			s.builtin[f.Name] = known[string(f.Text)]
		}
	}
	return s
}

// lintSets reads the files, one set for each file system.
func lintSets(fs string, paths []string) ([]lintSet, error) {
	var sets []lintSet
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return nil, err
		}
		if more, err := bundleSets(fs, p, info.IsDir()); err != nil || more != nil {
			for _, s := range more {
				sets = addSet(sets, s)
			}
			if err != nil {
				return nil, err
			}
			continue
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
		} else if files, err = folderRules(dir); err != nil {
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
		sets = addSet(sets, newLintSet(name, files, named))
	}
	return sets, nil
}

// folderRules returns the rules in a folder that is named for a file system. If it is in a bundle,
// the tables of the bundle come with them.
func folderRules(dir string) ([]invariants.File, error) {
	parent, fs := filepath.Split(filepath.Clean(dir))
	if parent = filepath.Clean(parent); isBundle(parent) {
		b, err := bundle.Open(parent)
		if err != nil {
			return nil, err
		}
		if files, err := b.Rules(fs); files != nil || err != nil {
			return files, err
		}
	}
	if !slices.Contains(guard.FileSystems(), fs) { // --fs says which
		files, err := invariants.ReadDir(dir)
		if err == nil && len(files) == 0 {
			err = fmt.Errorf("no .pl files in %s", dir)
		}
		return files, err
	}
	return guard.RuleFiles(parent, fs)
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
		maps.Copy(sets[i].builtin, s.builtin)
		return sets
	}
	return append(sets, s)
}

// bundleSets returns the sets of a bundle: a zip file, or a folder with a manifest or with folders
// of file systems. It returns nil if the path is none, or fs names a file system.
func bundleSets(fs, path string, isDir bool) (sets []lintSet, err error) {
	if fs != "" {
		return nil, nil
	}
	if isDir {
		if _, err := fileSystemOf("", path); err == nil {
			return nil, nil
		}
	} else if strings.HasSuffix(path, ".pl") {
		return nil, nil
	}
	cfg := guard.RulesConfig{Add: []string{path}}
	b, err := bundle.Open(path)
	if err != nil {
		return nil, err
	}
	for _, fs := range guard.FileSystems() {
		files, err := b.Rules(fs)
		if err != nil {
			return nil, err
		}
		named := map[string]bool{}
		for i := range files {
			named[files[i].Name] = true
		}
		if files != nil {
			sets = append(sets, newLintSet(fs, files, named))
		}
	}
	if sets == nil && len(b.Settings) == 0 {
		return nil, fmt.Errorf("%s has neither rules nor settings: expected files such as %s", path,
			filepath.Join(path, "ext3", "mine.pl"))
	}
	for _, s := range sets {
		if len(findingsOf(s.loads())) > 0 {
			return sets, nil // lint says why
		}
	}
	_, err = cfg.Source() // checks the settings
	return sets, err
}

// loads returns the error with which the rules do not load.
func (s lintSet) loads() error {
	_, err := invariants.ListRules(detect.Schema(s.fs), s.files, lintOptions())
	return err
}

// lintOptions returns the options with which rules are loaded.
func lintOptions() (o invariants.Options) {
	for _, fs := range guard.FileSystems() {
		o.Others = append(o.Others, detect.Schema(fs))
	}
	return o
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
	engine, err := guard.NewEngine("", detect.Schema(s.fs), s.files, lintOptions())
	if err != nil {
		return findingsOf(err)
	}
	var out []Finding
	traps, _ := invariants.Traps(detect.Schema(s.fs), s.files, lintOptions()) // the rules load
	for _, l := range traps {
		if s.named[l.File] {
			out = append(out, Finding{l.File, l.Line, l.Column, LintError, l.Clause, l.Text})
		}
	}
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
				out = append(out, Finding{file, line, 0, LintWarning, "", r.Name + " lacks " + missing.what})
			}
		}
	}
	for _, l := range invariants.Singletons(s.files) {
		if s.named[l.File] {
			out = append(out, Finding{l.File, l.Line, l.Column, LintWarning, l.Clause, l.Text})
		}
	}
	return append(out, s.engineNotes(engine)...)
}

// findingsOf splits the errors of a set that does not load into findings.
func findingsOf(err error) []Finding {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var out []Finding
		for _, e := range joined.Unwrap() {
			out = append(out, findingsOf(e)...)
		}
		return out
	}
	if l, ok := errors.AsType[invariants.LoadError](err); ok {
		return []Finding{{l.File, l.Line, l.Column, LintError, l.Clause, l.Text}}
	}
	return []Finding{{"", 0, 0, LintError, "", err.Error()}}
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
func (s lintSet) engineNotes(e invariants.Engine) []Finding {
	c, ok := e.(*invariants.Compiled)
	if !ok {
		return nil
	}
	var out []Finding
	note := func(source, level, text string) {
		if file, line := splitSource(source); s.named[file] {
			out = append(out, Finding{file, line, 0, level, "", text})
		}
	}
	for _, f := range c.Fallbacks() {
		note(f.Source, LintNote, fmt.Sprintf("%s runs on the slow reference engine here: %s", f.Rule,
			f.Why))
	}
	plans, _ := c.Plans() // the rules load
	for _, r := range c.Rules() {
		for _, p := range plans[r.Name] {
			noteCost(r, p, note)
		}
	}
	if s.fs == "btrfs" && !s.shipped {
		noteLogs(c.Rules(), plans, note)
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
