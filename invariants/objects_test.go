package invariants_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fsward/change"
	"fsward/invariants"
)

// TestFileNamedNull checks that a guest cannot hide an entry by naming a file null.
func TestFileNamedNull(t *testing.T) {
	names := change.NewNames()
	s := &change.Schema{FS: "btrfs", Kinds: []change.KindInfo{{},
		{Name: "dir_item", Fields: []change.Field{1}}},
		Fields: []string{"object", "name"}, Words: []string{"present"}}
	txn := &change.Txn{Schema: s, Names: names}
	o := change.Object{Tree: 5, ID: 256, Kind: 1, Sub: 7}
	txn.Append(change.Record{Object: o, Field: 1, New: names.Intern([]byte("null"))})
	e := newEngine(t, s, "violation(1, T, ID) :- new(T, ID, name, _).", invariants.Options{})
	if v := e.Check(context.Background(), txn, parseFacts(t, "").View); v.Outcome != change.Violated {
		t.Errorf("outcome %v: the file named null was taken for an absent value", v.Outcome)
	}
}

// TestObjectsOfOneKey checks that several objects with one printed identifier are several solutions
// of a query.
func TestObjectsOfOneKey(t *testing.T) {
	names := change.NewNames()
	s := &change.Schema{FS: "btrfs", Kinds: []change.KindInfo{{},
		{Name: "dir_item", Fields: []change.Field{1}}},
		Fields: []string{"object", "name"}, Words: []string{"present"}}
	view := &pairView{names: [2]change.Value{names.Intern([]byte("one")), names.Intern([]byte("two"))}}
	e := newEngine(t, s, `violation(1, 5, NAME) :- query(5, k(256,dir_item,7), name, NAME).
violation(2, 5, N) :- count(query(5, k(256,dir_item,7)), N).`, invariants.Options{})
	v := e.Check(context.Background(), &change.Txn{Schema: s, Names: names}, view)
	want := []string{"1\t5\t'one'", "1\t5\t'two'", "2\t5\t2"}
	if d := cmp.Diff(want, lines(v.Violations)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// pairView has two entries with one key.
type pairView struct {
	failingView
	names [2]change.Value
}

func (v *pairView) Get(o change.Object, _ change.Field) (change.Value, bool, error) {
	return v.names[o.Aux], true, nil
}
func (v *pairView) Scan(lo, hi change.Object) iter.Seq2[change.Object, error] {
	return func(yield func(change.Object, error) bool) {
		for aux := range uint64(2) {
			if o := (change.Object{Tree: 5, ID: 256, Kind: 1, Sub: 7, Aux: aux}); lo.Compare(o) <= 0 &&
				o.Compare(hi) <= 0 {
				if !yield(o, nil) {
					return
				}
			}
		}
	}
}

// TestManyObjectsOfOneKey checks that many objects with one key are found by a value as few are.
func TestManyObjectsOfOneKey(t *testing.T) {
	for _, n := range []int{3, 30} {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, "object(5, k(257,inode_ref,a(256,%d))).\n"+
				"state(5, k(257,inode_ref,a(256,%d)), name, n%d).\n", i, i, i%3)
			fmt.Fprintf(&text, "state(5, k(257,inode_ref,a(256,%d)), index, %d).\n", i, i)
		}
		name := func(value string) string {
			return "query(5, k(257,inode_ref,a(256,N)), name, " + value + ")"
		}
		answers(t, text.String(), map[string]string{
			"member(V, [n0,n2,n3]), " + name("V") + ", N < 3, X = V/N":                   "n0/0 n2/2",
			"member(V, [n0,n2,n0]), count(" + name("V") + ", X)":                         fmt.Sprint(n / 3),
			"member(V, [n1,n3]), \\+ " + name("V") + ", X = V":                           "n3",
			name("n1") + ", query(5, k(257,inode_ref,a(256,N)), index, N), N < 2, X = N": "1",
			"member(D, [255,256]), query(5, k(257,inode_ref,a(D,2)), name, n2), X = D":   "256",
			"member(D, [255,256]), query(5, k(257,inode_ref,a(D,N)), name, n2), X = D":   "256",
		})
	}
}

// TestKindIsTree checks that in ext3, the kind stands in the place of the tree, and identifiers
// have their own shapes.
func TestKindIsTree(t *testing.T) {
	text := `
change(inode,12,object,null,present).
change(inode,12,links_count,null,2).
change(dirent,a(2,'a'),object,null,present).
change(dirent,a(2,'a'),inode,null,12).
change(pointer,a(12,3),object,null,present).
change(pointer,a(12,3),block,null,700).
object(inode,12).
object(dirent,a(2,'a')).
object(dirent,a(2,'b\x80')).
object(pointer,a(12,3)).
state(inode,12,links_count,2).
state(dirent,a(2,'a'),inode,12).
state(dirent,a(2,'b\x80'),inode,12).
state(pointer,a(12,3),block,700).
`
	text = strings.ReplaceAll(text, `b\x80'`, `b\x80\'`)
	answers(t, text, map[string]string{
		"add(inode, ID), X = ID":                               "12",
		"add(dirent, a(D, NAME)), X = r(D, NAME)":              "r(2,'a')",
		"query(inode, 12, links_count, X)":                     "2",
		"query(inode, 13), X = 1":                              "",
		"query(dirent, a(2, X))":                               `'a' 'b\x80\'`,
		"query(dirent, a(2, X), inode, 12)":                    `'a' 'b\x80\'`,
		"query(dirent, a(2, 'a')), X = 1":                      "1",
		"query(dirent, a(2, 'c')), X = 1":                      "",
		"query(pointer, a(12, X), block, 700)":                 "3",
		"new(KIND, X)":                                         "12 a(12,3) a(2,'a')",
		"new(pointer, a(I, N), block, B), X = b(B)":            "b(700)",
		"count(query(dirent, a(2, _), inode, 12), X)":          "2",
		"query(dirent, a(2, N), inode, I), N \\== a, X = i(I)": "i(12)",
		"change(KIND, a(2,'a'), F, _, 12), X = p(KIND, F)":     "p(dirent,inode)",
		"change(KIND, a(12,3), block, _, B), X = p(KIND, B)":   "p(pointer,700)",
	})
	f := parseFacts(t, text)
	e := newEngine(t, f.Txn.Schema, "violation(1, dirent, a(D, N)) :- new(dirent, a(D, N)).",
		invariants.Options{})
	v := e.Check(context.Background(), f.Txn, f.View)
	if got := fmt.Sprint(v.Violations); !strings.Contains(got,
		"change(dirent,a(2,'a'),inode,null,12)") || v.Violations[0].Rule != "ext3/1" {
		t.Errorf("violation of ext3: %s", got)
	}
}
