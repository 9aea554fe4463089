package offline_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fsward/change"
	"fsward/hostd/guard"
	"fsward/hostd/offline"
	"fsward/interp/detect"
	"fsward/invariants/facts"
)

// writeSite writes the files of a bundle and returns its folder.
func writeSite(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const ownerRule = "% Rule site/owner. An owner stays.\n" + described +
	"violation(site/owner, inode, I) :-\n  commit,\n  watched(I, _),\n  new(inode, I, uid, _).\n"

// site is a bundle whose rule is violated by ownerChanged.
func site(manifest, severity string) map[string]string {
	return map[string]string{
		"ext3/owner.pl":    strings.Replace(ownerRule, "violation", severity+"violation", 1),
		"data/watched.csv": "# inode, name\n12, 'secret'\n14, other\n",
		"bundle.json": `{"format": 1, "name": "acme", "version": "1.2", "rules": {` + manifest +
			`}}`,
		"cases/ext3/changed.pl": ownerChanged + "rule(site/owner).\nexpect(site/owner, inode, 12).\n",
		"cases/ext3/base.pl":    ownerChanged + "baseline.\nrule(site/owner).\nexpect_none.\n",
	}
}

const ownerChanged = "change(inode, 12, uid, 0, 1000).\n" +
	"change(inode, 12, object, present, present).\n" +
	"object(inode, 12).\nstate(inode, 12, uid, 1000).\n"

// fewRules returns a folder with two rules in the place of the built-in ones, which load slowly.
func fewRules(t *testing.T) string {
	t.Helper()
	return writeSite(t, map[string]string{"ext3/a.pl": "violation(15, inode, I) :- " +
		"delete(inode, I).\n" +
		"violation(18, inode, I) :- delete(inode, I).\n"})
}

// checkOwner judges ownerChanged.
func checkOwner(t *testing.T, cfg guard.RulesConfig) (*guard.Rules, change.Outcome,
	[]change.Violation) {
	t.Helper()
	cfg.Dir = fewRules(t)
	rules, err := cfg.Load()
	if err != nil {
		t.Fatal(err)
	}
	c, err := facts.ParseCase(detect.Schema("ext3"), ownerChanged+"expect_none.\n")
	if err != nil {
		t.Fatal(err)
	}
	v := rules.Check(context.Background(), c.Txn, c.View)
	if v.RulesHash != rules.Info().Hash || len(v.RulesHash) != 16 {
		t.Errorf("the verdict has the hash %q, the rules %q", v.RulesHash, rules.Info().Hash)
	}
	var site []change.Violation
	for _, x := range v.Violations {
		if guard.IsSite(x.Rule) {
			site = append(site, x)
		}
	}
	return rules, v.Outcome, site
}

// TestSeverities checks that the severity of a rule, and the settings of a bundle, decide what a
// violation does.
func TestSeverities(t *testing.T) {
	for _, test := range []struct {
		name, manifest, severity string
		outcome                  change.Outcome
		word, exempt             string
		found                    int
	}{
		{"default", "", "", change.Violated, "", "", 1},
		{"refuse", "", "% Severity: refuse\n", change.Violated, "", "", 1},
		{"the word of older rules", "", "% Severity: corruption\n", change.Violated, "", "", 1},
		{"pause", "", "% Severity: pause\n", change.Violated, "pause", "", 1},
		{"log", "", "% Severity: log\n", change.Holds, "log", "", 1},
		{"log by a setting", `"site/owner": {"severity": "log", "reason": "a trial"}`, "",
			change.Holds, "log", "", 1},
		{"off", `"site/owner": {"enabled": false, "reason": "a trial"}`, "", change.Holds, "", "", 0},
		{"exempt", `"site/owner": {"exempt": [{"tree": "inode", "id": "12"}], "reason": "root's"}`, "",
			change.Holds, "", "root's", 1},
		{"another is exempt", `"site/owner": {"exempt": [{"tree": "inode", "id": "13"}], "reason": "x"}`,
			"", change.Violated, "", "", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := writeSite(t, site(test.manifest, test.severity))
			_, outcome, found := checkOwner(t, guard.RulesConfig{Add: []string{dir}})
			if outcome != test.outcome || len(found) != test.found {
				t.Fatalf("%s: %+v", outcome, found)
			}
			if len(found) > 0 && (found[0].Severity != test.word || found[0].Exempt != test.exempt) {
				t.Errorf("severity %q, exempt %q", found[0].Severity, found[0].Exempt)
			}
		})
	}
}

// TestBundleMistakes checks that a bundle's mistakes are named, with their file.
func TestBundleMistakes(t *testing.T) {
	for _, test := range []struct{ manifest, want string }{
		{`"ext3/999": {"enabled": false, "reason": "x"}`, "bundle.json: there is no rule ext3/999"},
		{`"ext3/15": {"enabled": false}`, "bundle.json: ext3/15 has no reason"},
		{`"ext3/15": {"severity": "warn", "reason": "x"}`, `ext3/15 has the unknown severity "warn"`},
		{`"ext3/15": {"exempt": [{"tree": "inode"}], "reason": "x"}`,
			"an exempt object has a tree and an id"},
		{`"ext3/15": {"enabld": false, "reason": "x"}`, "enabld"},
		{`}, "format": 2, "rules": {`, "its format is 2"},
	} {
		dir := writeSite(t, site(test.manifest, ""))
		if _, err := (guard.RulesConfig{Dir: fewRules(t), Add: []string{dir}}).Load(); err == nil ||
			!strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.manifest, err, test.want)
		}
	}
}

// TestBundleInOneFile checks that a bundle in one file judges as its folder does, and has the same
// hash.
func TestBundleInOneFile(t *testing.T) {
	dir := writeSite(t, site("", ""))
	zip := filepath.Join(t.TempDir(), "site.zip")
	if err := offline.WriteBundle(dir, zip); err != nil {
		t.Fatal(err)
	}
	folder, _, _ := checkOwner(t, guard.RulesConfig{Add: []string{dir}})
	file, outcome, found := checkOwner(t, guard.RulesConfig{Add: []string{zip}})
	if outcome != change.Violated || len(found) != 1 || found[0].Rule != "site/owner" {
		t.Errorf("%s: %+v", outcome, found)
	}
	if folder.Info().Hash != file.Info().Hash {
		t.Errorf("the folder has the hash %s, the file %s", folder.Info().Hash, file.Info().Hash)
	}
	for _, path := range []string{dir, zip} {
		results, err := offline.TestRules(context.Background(), "", path, guard.RulesConfig{})
		if err != nil || len(results) != 4 {
			t.Fatalf("%d results, %v", len(results), err)
		}
		for _, r := range results {
			if !r.Passed {
				t.Errorf("%+v", r)
			}
		}
		if findings, _, err := offline.LintRules("", []string{path}); err != nil || len(findings) > 0 {
			t.Errorf("%v, %v", findings, err)
		}
	}
}

// TestReloadSaysWhatChanged checks that a reload says which rules are new, gone or changed. A
// change in a table or a helper changes the rules that use it, and no others.
func TestReloadSaysWhatChanged(t *testing.T) {
	files := site("", "")
	files["ext3/other.pl"] = strings.ReplaceAll(strings.Replace(ownerRule, "  watched(I, _),\n", "",
		1), "owner", "other")
	dir := writeSite(t, files)
	rules, _, _ := checkOwner(t, guard.RulesConfig{Add: []string{dir}})
	reload := func() guard.RuleChanges {
		t.Helper()
		changes, swap, err := rules.Reload()
		if err != nil {
			t.Fatal(err)
		}
		swap()
		return changes
	}
	if c := reload(); c.Was != c.Hash || c.String() != "no rule has changed\n" {
		t.Errorf("nothing changed, and the answer is %+v", c)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("data/watched.csv", "12, secret\n15, other\n")
	if c := reload(); c.Was == c.Hash || c.String() != "changed: site/owner (ext3)\n" {
		t.Errorf("a table changed, and the answer is %+v", c)
	}
	write("ext3/other.pl", strings.ReplaceAll(files["ext3/other.pl"], "other", "third"))
	if c := reload(); c.String() != "added: site/third (ext3)\nremoved: site/other (ext3)\n" {
		t.Errorf("a rule has another name, and the answer is %q", c)
	}
	before := rules.Info().Hash
	write("ext3/third.pl", "violation(site/x, inode, I) :- no_such(I).\n")
	if _, _, err := rules.Reload(); err == nil || rules.Info().Hash != before {
		t.Errorf("rules that do not load: %v", err)
	}
}

const ext3Cases = "../../invariants/testdata/cases/ext3"

// TestFolderWithoutRules checks that a missing folder and an empty one are the same to every
// command.
func TestFolderWithoutRules(t *testing.T) {
	for _, empty := range []bool{false, true} {
		dir := writeSite(t, map[string]string{"btrfs/a.pl": "violation(1, T, I) :- add(T, I).\n"})
		if empty {
			if err := os.Mkdir(filepath.Join(dir, "ext3"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		cfg := guard.RulesConfig{Dir: dir}
		want := "there are no rules for ext3: no .pl files in " + filepath.Join(dir, "ext3")
		rules, err := cfg.Load()
		if err != nil {
			t.Fatal(err)
		}
		c, err := facts.ParseCase(detect.Schema("ext3"), ownerChanged+"expect_none.\n")
		if err != nil {
			t.Fatal(err)
		}
		v := rules.Check(context.Background(), c.Txn, c.View)
		if v.Outcome != change.Undecided || len(v.Undecided) != 1 || v.Undecided[0] != want {
			t.Errorf("check: %+v", v)
		}
		_, explain := offline.ExplainRule("ext3/1", cfg)
		_, test := offline.TestRules(context.Background(), "", ext3Cases, cfg)
		_, _, lint := offline.LintRules("", []string{filepath.Join(dir, "ext3")})
		for command, err := range map[string]error{"explain": explain, "test": test, "lint": lint} {
			if err == nil || command != "lint" && err.Error() != want {
				t.Errorf("%s (empty %v): %v", command, empty, err)
			}
		}
	}
}

// TestCoverage checks that coverage says which clauses were true, and which goal ends the others.
func TestCoverage(t *testing.T) {
	dir := writeSite(t, site("", ""))
	clauses, _, err := offline.CoverRules(context.Background(), offline.CoverageConfig{Cases: dir})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	offline.WriteCoverage(&text, clauses)
	for _, want := range []string{"site/owner                              1     3/3",
		"2 of 2 rows", "2 of 2 clauses were true"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the coverage is\n%swant %q", text.String(), want)
		}
	}
	if err := os.Remove(filepath.Join(dir, "cases", "ext3", "changed.pl")); err != nil {
		t.Fatal(err)
	}
	if clauses, _, err = offline.CoverRules(context.Background(),
		offline.CoverageConfig{Cases: dir}); err != nil || clauses[len(clauses)-1].Stopped != "commit" {
		t.Errorf("%+v, %v", clauses, err)
	}
}

// TestQueryOfALogCommit checks that a goal can be asked about a log commit: the log has what fsync
// wrote.
func TestQueryOfALogCommit(t *testing.T) {
	const logs = "../guard/testdata/logs/btrfs"
	ask := func(target, goal string) (rows int, title string) {
		t.Helper()
		err := offline.Query(context.Background(), offline.QueryConfig{Targets: []string{target},
			Base: logs + ".base.zst", FS: detect.Auto, Limit: 100}, func(q *offline.Querier) error {
			title = q.Title
			a, err := q.Ask(context.Background(), goal)
			if err == nil {
				rows += len(a.Rows)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return rows, title
	}
	const inLog = "new(-6, k(INODE, inode_item, 0))"
	if rows, title := ask(logs+".log.zst@10.1", inLog); rows == 0 ||
		!strings.HasSuffix(title, "log commit 1") {
		t.Errorf("%d inodes in the log commit, %q", rows, title)
	}
	if rows, _ := ask(logs+".log.zst@10", inLog); rows != 0 {
		t.Errorf("%d inodes of a log in a commit", rows)
	}
	for _, target := range []string{"@10.9", "@10.0", "@10.x"} {
		if err := offline.Query(context.Background(), offline.QueryConfig{
			Targets: []string{logs + ".log.zst" + target}, Base: logs + ".base.zst", FS: detect.Auto},
			func(*offline.Querier) error { return nil }); err == nil {
			t.Errorf("%s was found", target)
		}
	}
}
