package fsward

import (
	"bytes"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxColumns bounds the lines of documents. Tables, blocks of code, and lines that one link or
// address fills may be longer.
const maxColumns = 100

// maxReadme bounds the README, in lines.
const maxReadme = 120

// A document is a Markdown file of the project.
type document struct {
	path string // from the root of the project
	text string
}

// lines returns the lines of the document, and for each whether it is in a block of code.
func (d document) lines() (lines []string, code []bool) {
	inside := false
	for _, line := range strings.Split(d.text, "\n") {
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		lines, code = append(lines, line), append(code, inside || fence)
		inside = inside != fence
	}
	return lines, code
}

// prose returns the text without blocks of code.
func (d document) prose() string {
	lines, code := d.lines()
	var b strings.Builder
	for i, line := range lines {
		if !code[i] {
			b.WriteString(line)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// documents reads all Markdown files of the project, without those that make has built.
func documents(t *testing.T) []document {
	t.Helper()
	var list []document
	err := filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && slices.Contains([]string{"build", "out", ".git"}, path):
			return fs.SkipDir
		case filepath.Ext(path) != ".md":
			return nil
		}
		text, err := os.ReadFile(path)
		list = append(list, document{filepath.ToSlash(path), string(text)})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 40 {
		t.Fatalf("found %d documents, want at least 40", len(list))
	}
	return list
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// TestDocumentLinks checks that each relative link leads to a file, and each fragment to a heading.
func TestDocumentLinks(t *testing.T) {
	headings := map[string][]string{}
	docs := documents(t)
	for _, d := range docs {
		headings[d.path] = d.anchors()
	}
	for _, d := range docs {
		for _, m := range link.FindAllStringSubmatch(d.prose(), -1) {
			u, err := url.Parse(m[1])
			if err != nil {
				t.Errorf("%s: link %q: %v", d.path, m[1], err)
				continue
			}
			if u.IsAbs() {
				continue
			}
			to := d.path
			if u.Path != "" {
				to = filepath.ToSlash(filepath.Join(filepath.Dir(d.path), u.Path))
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: link to %s, which does not exist", d.path, m[1])
			} else if u.Fragment != "" && !slices.Contains(headings[to], u.Fragment) {
				t.Errorf("%s: link to %s, which has no such heading", d.path, m[1])
			}
		}
	}
}

var notInAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

// anchors returns the fragments by which the headings of the document can be linked.
func (d document) anchors() []string {
	var list []string
	for line := range strings.Lines(d.prose()) {
		title, heading := strings.CutPrefix(strings.TrimLeft(line, "#"), " ")
		if heading && strings.HasPrefix(line, "#") {
			title = notInAnchor.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "")
			list = append(list, strings.ReplaceAll(title, " ", "-"))
		}
	}
	return list
}

// TestDocumentLines checks that prose wraps at 100 columns, and that the README stays short.
func TestDocumentLines(t *testing.T) {
	for _, d := range documents(t) {
		lines, code := d.lines()
		if d.path == "README.md" && len(lines) > maxReadme {
			t.Errorf("README.md has %d lines, want at most %d", len(lines), maxReadme)
		}
		for i, line := range lines {
			table := strings.HasPrefix(strings.TrimSpace(line), "|")
			n := utf8.RuneCountInString(line)
			if n > maxColumns && !code[i] && !table && !unbreakable(line) {
				t.Errorf("%s:%d: %d columns, want at most %d", d.path, i+1, n, maxColumns)
			}
		}
	}
}

// unbreakable reports whether one link or one address makes a line too long.
func unbreakable(line string) bool {
	return slices.ContainsFunc(strings.Fields(line), func(word string) bool {
		return strings.Contains(word, "](") || strings.Contains(word, "://")
	}) && strings.Count(strings.TrimSpace(line), " ") < 6
}

// diary matches dates and the story of a measurement, which belong to a page of results and not to
// a user's document.
var diary = regexp.MustCompile(`\b20\d\d-\d\d-\d\d\b|(?i)\b(later that day|that day|` +
	`the day before|was mended|is mended|until now|at first)\b`)

// TestNoDiary checks that the documents of users tell no story of measurements.
func TestNoDiary(t *testing.T) {
	for _, d := range documents(t) {
		if d.path != "README.md" && !strings.HasPrefix(d.path, "docs/user/") {
			continue
		}
		for _, found := range diary.FindAllString(d.prose(), -1) {
			t.Errorf("%s: %q tells the story of a measurement: it belongs to docs/results", d.path, found)
		}
	}
}

// projectPath matches a path of the project in code quotes, as documents name it.
var projectPath = regexp.MustCompile("`((?:blocktap|change|cmd|dev|docs|explore|guest|guest-kmod|" +
	"hostd|interp|invariants|kmod|ramdisk|scripts|shareddata)/[A-Za-z0-9_./*-]+)`")

// TestDocumentPaths checks that each file and folder that a document names in code quotes exists.
// The changelog names files that are gone.
func TestDocumentPaths(t *testing.T) {
	for _, d := range documents(t) {
		if d.path == "CHANGELOG.md" {
			continue
		}
		for _, m := range projectPath.FindAllStringSubmatch(d.prose(), -1) {
			path := m[1]
			if strings.Contains(path, "NAME") || strings.Contains(path, "NNNN") {
				continue // the reader's own
			}
			if found, err := filepath.Glob(path); err != nil || len(found) == 0 {
				t.Errorf("%s: names %s, which does not exist", d.path, path)
			}
		}
	}
}

// TestDecisionsAreListed checks that docs/decisions/README.md lists each decision.
func TestDecisionsAreListed(t *testing.T) {
	index, err := os.ReadFile("docs/decisions/README.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("docs/decisions/0*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("no decisions: %v", err)
	}
	for _, f := range files {
		if !bytes.Contains(index, []byte("("+filepath.Base(f)+")")) {
			t.Errorf("docs/decisions/README.md does not list %s", filepath.Base(f))
		}
	}
}

// TestGlossaryIsSorted checks that the terms of the glossary are in order.
func TestGlossaryIsSorted(t *testing.T) {
	text, err := os.ReadFile("docs/dev/glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	last := ""
	for line := range strings.Lines(string(text)) {
		row, isRow := strings.CutPrefix(line, "| ")
		term, _, _ := strings.Cut(row, " | ")
		term = strings.NewReplacer("(", "", "/", "").Replace(strings.ToLower(term))
		if !isRow || term == "term" {
			continue
		}
		if term <= last {
			t.Errorf("the term %q stands after %q", term, last)
		}
		last = term
	}
	if last == "" {
		t.Error("the glossary has no terms")
	}
}
