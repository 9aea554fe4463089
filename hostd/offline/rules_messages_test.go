package offline_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fsward/hostd/offline"
)

const described = "% Source: none.\n% For the user: nothing.\n"

// messages are mistakes in rule files, with the message of lint about each and its place.
var messages = []struct{ name, fs, text, want string }{
	{"misspelled word", "ext3", "% Rule 1. A.\n" + described +
		"violation(1, inode, I) :- new(inode, I, f(mode,s_ifmt), s_ifdri).",
		"x.pl:4:57: error: in violation(1, inode, I): s_ifdri is not a word of f(mode,s_ifmt) " +
			"(a name needs quotes); did you mean s_ifdir?"},
	{"name without quotes", "btrfs", "% Rule 1. A.\n" + described +
		"violation(1, T, k(I, dir_index, X)) :- new(T, k(I, dir_index, X), name, secret).",
		"x.pl:4:73: error: in violation(1, T, k(I, dir_index, X)): secret is not a word of btrfs"},
	{"word in quotes", "ext3", "% Rule 1. A.\n" + described +
		"violation(1, inode, I) :- new(inode, I, f(mode,s_ifmt), T), T == 's_ifdir'.",
		"x.pl:4:66: error: in violation(1, inode, I): 's_ifdir' is a name in quotes; " +
			"write the word s_ifdir without quotes"},
	{"word for a number", "ext3", "% Rule 1. A.\n" + described +
		"violation(1, inode, I) :- new(inode, I, uid, 'root').",
		"x.pl:4:46: error: in violation(1, inode, I): uid is a number (id of a user), and never root"},
	{"field that is only queried", "ext3", "% Rule 1. A.\n" + described +
		"violation(1, inode, I) :- new(inode, I, mtime, 0).",
		"x.pl:4:41: error: in violation(1, inode, I): mtime of inode can only be queried"},
	{"no full stop", "ext3", "% Rule 1. A.\n" + described +
		"violation(1, inode, I) :-\n  new(inode, I)\n\n% Rule 2. B.\n" + described +
		"violation(2, inode, I) :-\n  delete(inode, I).",
		"x.pl:5:16: error: in violation(1, inode, I): the clause has no full stop at its end; " +
			"the next one begins on line 10"},
	{"two rules of one number", "ext3", "% Rule 1. A.\n" + described +
		"violation(1, inode, I) :- new(inode, I).\n\n% Rule 1. B.\n" + described +
		"violation(1, inode, I) :- delete(inode, I).",
		"x.pl:6:1: error: a second rule 1: the first is described on line 1; " +
			"give this one another number"},
	{"a second text without its number", "ext3", "% Rule 1. A.\n" + described +
		"violation(1, inode, I) :- new(inode, I).\n\n% B.\n" + described +
		"violation(1, inode, I) :- delete(inode, I).",
		"x.pl:9:1: error: in violation(1, inode, I): a second rule 1: the first is at "},
	{"recursion without an end", "ext3", "% Rule 1. A.\n" + described +
		"violation(1, inode, I) :- new(inode, I), up(I).\nup(I) :- up(I).\nup(_).",
		"x.pl:5:1: error: in up(I): up/1 calls itself with the same arguments: " +
			"a recursion without an end"},
	{"recursion in each clause", "ext3", "% Rule 1. A.\n" + described +
		"violation(1, inode, I) :- new(inode, I), up(I).\nup(I) :- query(inode, I), J is I + 1, up(J).",
		"x.pl:5:1: error: in up(I): each clause of up/1 calls it again"},
	{"kind of another file system", "ext3", "% Rule 1. A.\n" + described +
		"violation(1, dir_item, I) :- new(dir_item, I).",
		"x.pl:4:14: error: in violation(1, dir_item, I): unknown kind of object dir_item; " +
			"it is a kind of btrfs, and this file is for ext3"},
	{"unknown severity", "ext3", "% Rule 1. A.\n" + described + "% Severity: severe\n" +
		"violation(1, inode, I) :- new(inode, I).",
		`x.pl:5:1: error: in violation(1, inode, I): ext3/1 has the unknown severity "severe"; ` +
			"write refuse, pause or log"},
	{"another name space", "ext3", "% Rule a/b. A.\n" + described +
		"violation(a/b, inode, I) :- new(inode, I).",
		"x.pl:4:1: error: in violation(a/b, inode, I): a/b: the one name space of rules is site"},
	{"a rule that does not see the log", "btrfs", "% Rule 1. A.\n" + described +
		"violation(1, T, k(I, inode_item, 0)) :- change(T, k(I, inode_item, 0), uid, 0, 7).",
		"x.pl:4: note: btrfs/1 does not see a log (tree -6)"},
	{"a rule about names that does not see the log", "btrfs", "% Rule 1. A.\n" + described +
		"violation(1, T, k(D, dir_index, I)) :- add(T, k(D, dir_index, I)).",
		"A log has a new name as inode_ref of its inode"},
	{"a square in one directory", "ext3", "% Rule 1. A.\n" + described +
		"violation(1, dirent, a(D, N)) :-\n  new(dirent, a(D, N), inode, I), " +
		"new(dirent, a(D, _), inode, J), J > I.",
		"the cost may grow as n · entries of one directory, a square where all n are in one of these"},
}

// TestLintMessages checks each message, with its line and column.
func TestLintMessages(t *testing.T) {
	for _, m := range messages {
		t.Run(m.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.pl")
			if err := os.WriteFile(path, []byte(m.text+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			findings, _, err := offline.LintRules(m.fs, []string{path})
			if err != nil {
				t.Fatal(err)
			}
			var all strings.Builder
			for _, f := range findings {
				all.WriteString(f.String() + "\n")
			}
			if !strings.Contains(all.String(), m.want) {
				t.Errorf("lint says\n%swant %q", all.String(), m.want)
			}
		})
	}
}

// TestLintLeavesOutBuiltin checks that lint leaves out findings about unchanged built-in rules, so
// that those about a site's rules stand out.
func TestLintLeavesOutBuiltin(t *testing.T) {
	dir := t.TempDir()
	if _, err := offline.ExportRules(dir); err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(dir, "btrfs", "mine.pl")
	if err := os.WriteFile(mine, []byte("violation(900, T, I) :- add(T, I).\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	findings, builtin, err := offline.LintRules("", []string{filepath.Join(dir, "btrfs")})
	if err != nil {
		t.Fatal(err)
	}
	if builtin == 0 {
		t.Error("no remark about a built-in rule is left out")
	}
	for _, f := range findings {
		if f.File != filepath.ToSlash(mine) {
			t.Errorf("a remark about another file: %s", f)
		}
	}
	if len(findings) < 3 { // it lacks its sentence, its source, and what it means
		t.Errorf("remarks about the site's rule: %v", findings)
	}
}
