package oracle_test

import (
	"os"
	"path/filepath"
	"testing"

	"fsward/blocktap"
	"fsward/change"
	"fsward/explore/crash"
	"fsward/explore/oracle"
	"fsward/interp/detect"
	"fsward/invariants/bundle"
)

// TestSiteRules judges crash states by rules of a site. A rule about states is violated in those
// that have a file, and not in the state before the log. A rule about changes finds nothing: the
// whole file system decides, in which nothing has changed.
func TestSiteRules(t *testing.T) {
	for _, c := range []struct {
		name, goals string
		found       bool
	}{
		{"states", "new(inode, I, f(mode,s_ifmt), s_ifreg), I > 11", true},
		{"changes", "commit, new(inode, I, f(mode,s_ifmt), s_ifreg), I > 11", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			judged, violated, unconfirmed := judgeBy(t, c.goals)
			if c.found && (violated == 0 || violated == judged) || !c.found && violated > 0 {
				t.Errorf("%d of %d violated", violated, judged)
			}
			if c.found != (unconfirmed == 0) {
				t.Errorf("%d violations of the difference are none of the whole", unconfirmed)
			}
		})
	}
}

// judgeBy judges the crash states of a recorded ext3 by one rule of a site about an inode I, beside
// the built-in rules, which hold.
func judgeBy(t *testing.T, goals string) (judged, violated, unconfirmed int) {
	t.Helper()
	dir := t.TempDir()
	for path, text := range map[string]string{
		"ext3/rule.pl": "% Rule site/file. No file.\n% Source: a test.\n% For the user: nothing.\n" +
			"violation(site/file, inode, I) :- " + goals + ".\n",
		bundle.Manifest: `{"format": 1, "name": "test", "version": "1"}`} {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	site, err := bundle.OpenAll([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	const recording = "../../hostd/guard/testdata/logs/ext3"
	base, err := blocktap.OpenImage(recording + ".base.zst")
	if err != nil {
		t.Fatal(err)
	}
	defer base.Close()
	o, err := oracle.NewMaker(oracle.Options{Site: site}).New(t.Context(), detect.Auto, base)
	if err != nil {
		t.Fatal(err)
	}
	options := crash.Options{Unit: crash.PageSize, Limit: 20, Seed: 1}
	_, err = crash.Each(base, crash.OpenTrace(recording+".log.zst"), options,
		func(s *crash.State) error {
			v, err := o.Judge(t.Context(), s)
			if v.Outcome == change.Violated && v.Kind() != "site/file" {
				t.Errorf("%s", v)
			}
			return err
		})
	if err != nil {
		t.Fatal(err)
	}
	stats := o.Stats()
	return stats.Judged, stats.Violated, stats.Unconfirmed
}
