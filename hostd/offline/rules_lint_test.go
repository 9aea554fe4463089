package offline_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fsward/hostd/offline"
)

// TestLintSquares checks that lint warns of a rule whose cost may be a square, unless its comment
// block says why it is cheap.
func TestLintSquares(t *testing.T) {
	const head = "% Rule 900. A rule.\n% Source: none.\n% For the user: nothing.\n"
	const rule = "violation(900, TREE, k(DIR, dir_index, INDEX)) :-\n" +
		"  add(TREE, k(DIR, dir_index, INDEX)),\n"
	for _, test := range []struct{ text, want string }{
		{head + rule + "  query(TREE, k(DIR, inode_item, 0), nlink, 0).\n", ""},
		{head + rule + "  query(TREE, k(DIR, dir_index, OTHER)),\n  OTHER > INDEX.\n", ""},
		{head + rule + "  query(TREE, k(DIR, dir_index, OTHER)),\n" +
			"  query(TREE, k(DIR, extent_data, OFFSET)),\n  OFFSET > OTHER.\n",
			"4: btrfs/900, query(TREE,k(DIR,extent_data,OFFSET)): the cost may grow as " +
				"n · entries of one directory · extents of one file;"},
		{head + rule + "  add(TREE, k(OTHER, inode_item, 0)),\n  OTHER < DIR.\n",
			"4: btrfs/900, change(TREE,k(OTHER,inode_item,0),object,null,present): the cost may grow as " +
				"n · n;"},
		{head + "% Cost: few inodes are new.\n" + rule +
			"  add(TREE, k(OTHER, inode_item, 0)),\n  OTHER < DIR.\n", ""},
	} {
		path := filepath.Join(t.TempDir(), "a.pl")
		if err := os.WriteFile(path, []byte(test.text), 0o644); err != nil {
			t.Fatal(err)
		}
		findings, _, err := offline.LintRules("btrfs", []string{path})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, f := range findings {
			if f.Level == offline.LintWarning {
				got += strings.TrimPrefix(f.String(), path+":")
			}
		}
		if want := strings.Replace(test.want, ": ", ": warning: ", 1); test.want == "" && got != "" ||
			!strings.HasPrefix(got, want) {
			t.Errorf("%s\nwarnings: %q\nwant %q", test.text, got, want)
		}
	}
}

// TestLintBuiltin checks that the built-in rules lint without warnings.
func TestLintBuiltin(t *testing.T) {
	for _, fs := range []string{"btrfs", "ext3"} {
		findings, _, err := offline.LintRules("", []string{"../../invariants/" + fs})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range findings {
			if f.Level != offline.LintNote {
				t.Error(f)
			}
		}
	}
}

// TestLintManyRules checks that lint finds the one rule without a comment block among many, in time
// that does not grow with the square of their number.
func TestLintManyRules(t *testing.T) {
	var text strings.Builder
	for i := range 20_000 {
		if i != 15_000 {
			fmt.Fprintf(&text, "%% Rule %d. A rule.\n%% Source: none.\n%% For the user: nothing.\n",
				1000+i)
		}
		fmt.Fprintf(&text, "violation(%d, block, a(B,N)) :-\n"+
			"  add(block, a(B,N)), N > 99.\n", 1000+i)
	}
	path := filepath.Join(t.TempDir(), "a.pl")
	if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	findings, _, err := offline.LintRules("ext3", []string{path})
	if err != nil || len(findings) != 3 || findings[0].Line != 5*15_000+1 {
		t.Errorf("%d findings, %.300v, %v", len(findings), findings, err)
	}
}
