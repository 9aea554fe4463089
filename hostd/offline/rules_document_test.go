package offline_test

import (
	"context"
	"os"
	"regexp"
	"strings"
	"testing"

	"fsward/hostd/guard"
	"fsward/hostd/offline"
)

// namedFile matches a block of code in a document, with the name of its file.
var namedFile = regexp.MustCompile("(?s)File `([^`]+)`:\n\n```[a-z]+\n(.*?)```\n")

// TestSiteRulesDocument checks that the files in docs/user/site-rules.md are a bundle: it loads
// without a remark of lint, its tests pass, and it judges as the page says.
func TestSiteRulesDocument(t *testing.T) {
	text, err := os.ReadFile("../../docs/user/site-rules.md")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, m := range namedFile.FindAllStringSubmatch(string(text), -1) {
		files[m[1]] = m[2]
	}
	dir := writeSite(t, files)
	findings, _, err := offline.LintRules("", []string{dir})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		if f.Level != offline.LintNote || strings.Contains(f.Text, "does not see a log") {
			t.Error(f)
		}
	}
	results, err := offline.TestRules(context.Background(), "", dir, guard.RulesConfig{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if !r.Passed {
			t.Errorf("%s (%s): %v %s", r.File, r.Engine, r.Diff, r.Error)
		}
	}
	if len(files) != 10 || len(results) != 6 {
		t.Errorf("%d files, %d results", len(files), len(results))
	}
}
