package invariants_test

import (
	"context"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fsward/invariants"
	"fsward/shareddata"
)

// TestThesisFigures checks that the figures of the thesis run as printed on both engines, and find
// exactly what is wrong.
func TestThesisFigures(t *testing.T) {
	text, err := os.ReadFile("testdata/figures.pl")
	if err != nil {
		t.Fatal(err)
	}
	facts := parseFacts(t, `
change(5,k(257,inode_item,0),flags,1,16).
change(5,k(258,inode_item,0),flags,1,null).
change(5,k(259,inode_item,0),flags,1,3).
change(5,k(257,inode_item,0),size,4096,8192).
change(5,k(258,inode_item,0),size,null,100).
change(5,k(259,inode_item,0),size,8192,4096).
change(5,k(257,inode_item,0),f(flags,nodatasum),0,1).
change(5,k(256,dir_item,11),type,null,s_ifreg).
change(5,k(256,dir_item,12),type,null,s_ifdir).
change(5,k(257,extent_data,0),num_bytes,null,4096).
change(5,k(257,extent_data,4096),num_bytes,null,4096).
change(5,k(257,extent_data,8192),num_bytes,null,4096).
object(5,k(256,dir_item,11)).
object(5,k(256,dir_item,12)).
object(5,k(257,inode_item,0)).
object(5,k(257,extent_data,0)).
object(5,k(257,extent_data,8192)).
state(5,k(256,dir_item,11),location,k(257,inode_item,0)).
state(5,k(256,dir_item,12),location,k(257,inode_item,0)).
state(5,k(257,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(5,k(257,inode_item,0),size,8192).
state(5,k(257,extent_data,0),num_bytes,4096).
state(5,k(257,extent_data,8192),num_bytes,4096).
`)
	b := newBoth(t, facts.Txn.Schema, string(text), invariants.Options{OpenVocabulary: true})
	if b.compiled == nil {
		t.Fatal("the figures do not compile")
	}
	if left := b.compiled.(*invariants.Compiled).Fallbacks(); len(left) > 0 {
		t.Errorf("interpreted: %+v", left)
	}
	v := b.Check(context.Background(), facts.Txn, facts.View)
	want := []string{
		"15\t5\tk(257,inode_item,0)", "15\t5\tk(258,inode_item,0)",
		"16\t5\tk(256,dir_item,12)",
		"25\t5\tk(257,extent_data,0)",
		"3.10a\t5\tk(257,inode_item,0)", "3.10a\t5\tk(258,inode_item,0)", "3.10a\t5\tk(259,inode_item,0)",
		"3.10b\t5\tk(257,inode_item,0)",
		"3.3\t5\tk(257,inode_item,0)", "3.3\t5\tk(259,inode_item,0)",
	}
	if d := cmp.Diff(want, lines(v.Violations)); d != "" || len(v.Undecided) > 0 {
		t.Errorf("violations (-want +got):\n%s%v", d, v.Undecided)
	}
}

// TestFiguresAreAsPrinted checks that the thesis's figures in testdata are what the thesis prints,
// line by line.
func TestFiguresAreAsPrinted(t *testing.T) {
	paper, err := os.ReadFile(shareddata.Path(t, "..", "papers", "brunch-thesis.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var ours strings.Builder
	for _, file := range []string{"testdata/figures.pl", "testdata/thesis.pl"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		ours.Write(text)
	}
	plain := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	number := regexp.MustCompile(`(?m)^\d+( +|$)`)
	have := plain(ours.String())
	blocks := strings.Split(string(paper), "```")
	for figure, mark := range map[string]string{
		"3.2": "EXTENT < EXTENT_PREV + SIZE_PREV.", "3.3": "flags, _, NEW), NEW \\= null",
		"3.4": "% bind SIZE to the change",
		"3.6": "violation(16, TREE, k(INODE_NR", "3.10(a)": "OLD_NODATASUM \\= NEW_NODATASUM",
		"3.10(b)": "f(flags, nodatasum), BIT)",
		"3.11":    "delete(TREE_ID, k(INODE_NUMBER, inode_item, _))",
		"4.2":     "property(17, TREE_ID, PARENT_ID, CHILD_ID) :-", "5.1(a)": "OFFSET < I_SIZE,",
	} {
		printed := ""
		for i := 1; i < len(blocks); i += 2 {
			if strings.Contains(blocks[i], mark) {
				printed = blocks[i]
			}
		}
		if printed == "" {
			t.Errorf("figure %s is not found in the thesis", figure)
		}
		for _, line := range strings.Split(number.ReplaceAllString(printed, ""), "\n") {
			if line = plain(line); !strings.HasPrefix(line, "violation(...)") &&
				!strings.Contains(have, line) {
				t.Errorf("figure %s: the line %q is not in testdata", figure, line)
			}
		}
	}
}
