package ext3

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"fsward/shareddata"
)

// TestProblemCodes checks that docs/user/invariants-ext3.md lists every problem code of e2fsck
// once, and names only rules and checks that exist.
func TestProblemCodes(t *testing.T) {
	doc, err := os.ReadFile("../../docs/user/invariants-ext3.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("checks.go")
	if err != nil {
		t.Fatal(err)
	}
	known := make(map[string]bool)
	for _, m := range regexp.MustCompile(`"(ext3/[a-z-]+)"`).FindAllStringSubmatch(string(source),
		-1) {
		known[m[1]] = true
		if !slices.ContainsFunc(checks, func(c check) bool { return c.name == m[1] }) {
			t.Errorf("%s is not in the list of checks", m[1])
		}
	}
	for _, r := range Engine(t).Rules() {
		known["ext3/"+strings.TrimPrefix(r.Name, "ext3/")] = true
	}
	row := regexp.MustCompile(`(?m)^\| (PR_\w+) \| (.+) \|$`)
	name := regexp.MustCompile("`(ext3/[^`]+)`")
	listed := make(map[string]bool)
	for _, m := range row.FindAllStringSubmatch(string(doc), -1) {
		if listed[m[1]] {
			t.Errorf("%s is listed twice", m[1])
		}
		listed[m[1]] = true
		for _, n := range name.FindAllStringSubmatch(m[2], -1) {
			if !known[n[1]] {
				t.Errorf("%s: there is no rule or check %s", m[1], n[1])
			}
		}
	}
	for n, line := range strings.Split(string(ReadFile(t, shareddata.Path(t,
		"ext3/problem_codes.tsv"))), "\n") {
		code, _, _ := strings.Cut(line, "\t")
		if n == 0 || code == "" {
			continue
		}
		if !listed[code] {
			t.Errorf("%s is not listed", code)
		}
		delete(listed, code)
	}
	for code := range listed {
		t.Errorf("%s is no code of e2fsck", code)
	}
}
