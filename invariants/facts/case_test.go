package facts

import (
	"strings"
	"testing"

	"fsward/change"
)

var testSchema = &change.Schema{
	FS: "btrfs", Fields: []string{"object", "size", "name", "f(mode,s_ifmt)"},
	Words: []string{"present", "s_ifdir"},
	Kinds: []change.KindInfo{{}, {Name: "inode_item", Fields: []change.Field{1, 3}},
		{Name: "inode_ref", Shape: change.ShapePair, Fields: []change.Field{2}}},
}

// TestParseCase checks that a case is read with the schema of its file system: words are words, and
// quoted atoms are names.
func TestParseCase(t *testing.T) {
	c, err := ParseCase(testSchema, `
% A directory named as a word.
rule(7). rule(named).
change(5,k(1,inode_item,0),f(mode,s_ifmt),null,s_ifdir).
change(5,k(1,inode_ref,a(2,3)),name,null,'s_ifdir').
object(5,k(1,inode_item,0)).
expect(7, 5, k(-9,inode_item,0)).
expect(named, 5, k(1,inode_ref,a(2,3))).
`)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range c.Txn.Records {
		got = append(got, testSchema.RecordText(r, c.Txn.Names))
	}
	for _, e := range c.Expect {
		got = append(got, e.String())
	}
	got = append(got, c.Rules...)
	want := `change(5,k(1,inode_item,0),f(mode,s_ifmt),null,s_ifdir)
change(5,k(1,inode_ref,a(2,3)),name,null,'s_ifdir')
expect(7, 5, k(-9,inode_item,0))
expect(named, 5, k(1,inode_ref,a(2,3)))
7
named`
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

func TestParseCaseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"object(5,k(1,inode_item,0)).":                      "what it expects",
		"expect_none. expect(1,5,k(1,inode_item,0)).":       "what it expects",
		"expect_none.\nobject(5,k(1,inode_itm,0)).":         "line 2: unknown kind of object inode_itm",
		"expect_none. state(5,k(1,inode_item,0),name,'a').": "inode_item has no field name",
		"expect_none. state(5,k(1,inode_item,0),color,1).":  "inode_item has no field color",
		"expect_none. object(5,k(1,inode_ref,0)).":          "has another form",

		"expect_none. state(5,k(1,inode_item,0),f(mode,s_ifmt),s_ifdirr).": "not a word of btrfs",
		"expect_none. object(inode,1).":                                    "first argument",
		"expect(5).":                                                       "not a fact",
		"expect_none. change(5,k(1,inode_item,0),size,1,2,3).":             "not a fact",
	} {
		if _, err := ParseCase(testSchema, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
	if len(testSchema.Kinds) != 3 || len(testSchema.Fields) != 4 {
		t.Error("reading a case added to the schema")
	}
}
