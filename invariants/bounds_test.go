package invariants_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fsward/interp/detect"
	"fsward/invariants"
)

var updateBounds = flag.Bool("update", false, "rewrite the bounds of the built-in rules")

const boundsFile = "testdata/bounds.txt"

// TestBounds compares the bound of the cost of each built-in rule with a list, so that a worse one
// is noticed. A rule whose bound is a square says why it is cheap. Rewrite the list with go test
// ./invariants -run TestBounds -update.
func TestBounds(t *testing.T) {
	var b strings.Builder
	for _, fs := range []string{"btrfs", "ext3"} {
		files, err := invariants.Builtin(fs)
		if err != nil {
			t.Fatal(err)
		}
		e, err := invariants.NewCompiled(detect.Schema(fs), files, invariants.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range e.Rules() {
			plans, err := e.Explain(r.Name)
			if err != nil {
				t.Fatal(err)
			}
			square := false
			written := map[string]bool{}
			for _, p := range plans {
				for _, x := range p.Bound() {
					square = square || x.Square()
				}
				line := fmt.Sprintf("%s %s: %s\n", r.Name, p.Trigger, p.BoundText())
				if !written[line] {
					written[line] = true
					b.WriteString(line)
				}
			}
			if square != (r.Cost != "") {
				t.Errorf("%s: the bound is a square: %v; the comment block says: %q", r.Name, square, r.Cost)
			}
		}
	}
	if *updateBounds {
		if err := os.WriteFile(boundsFile, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(boundsFile)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(b.String(), "\n")); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// boundTests are bodies of a rule that begins with a new inode I, and the bounds of its cost.
var boundTests = []struct {
	body, bound string
	square      bool
}{
	{"query(T, k(I,inode_item,0), size, 7).", "n", false},
	{"not(query(T, k(I,dir_index,_))).", "n", false}, // the first is enough
	{"query(T, k(I,dir_index,X)), X > 9.", "n · entries of one directory", false},
	{"not((query(T, k(I,dir_index,X)), X > 9)), query(T, k(I,extent_data,Y)), Y > 9.",
		"n · entries of one directory + n · extents of one file", false},
	{"query(T, k(I,dir_index,X)), query(T, k(I,extent_data,X)).",
		"n · entries of one directory", false},
	{"query(T, k(I,dir_index,X)), query(T, k(I,extent_data,Y)), Y > X.",
		"n · entries of one directory · extents of one file", true},
	{"not((query(T, k(I,dir_index,X)), query(T, k(I,extent_data,Y)), Y > X)).",
		"n · entries of one directory · extents of one file", true},
	{"( query(T, k(I,dir_index,X)) ; query(T, k(I,extent_data,X)) ), X > 9.",
		"n · entries of one directory", false},
	{"change(T, k(J,extent_data,_), object, _, _), J < I.", "n · n", true},
	{"count(change(T, k(I,extent_data,_), object, _, _), 7).", "n", false},
	{"new(T, k(I,inode_item,0), size, S), query(T, k(I,dir_index,X), name, S), X > 9.",
		"n + entries of one directory, once", false},
	{"query(T, k(I,dir_item,7), name, N), N \\== a.", "n · names of one hash", false},
	{"( query(T, k(I,dir_index,X)), X > 9 -> query(T, k(I,extent_data,Y)), Y > 9 ; true ).",
		"n · entries of one directory + n · extents of one file", false},
}

// TestBoundOfPlan checks that the bound of a plan is the sum of the products of the groups that its
// goals go through.
func TestBoundOfPlan(t *testing.T) {
	schema := detect.Schema("btrfs")
	for _, test := range boundTests {
		e, err := invariants.NewCompiled(schema, []invariants.File{{Name: "test.pl",
			Text: []byte("violation(1, T, I) :- add(T, k(I,inode_item,0)), " + test.body)}},
			invariants.Options{OpenVocabulary: true})
		if err != nil {
			t.Fatal(err)
		}
		plans, err := e.Explain("1")
		if err != nil {
			t.Fatal(err)
		}
		var bounds []string
		square := false
		for _, p := range plans {
			bounds = append(bounds, p.BoundText())
			for _, x := range p.Bound() {
				square = square || x.Square()
			}
		}
		if bounds[0] != test.bound || square != test.square {
			t.Errorf("%s: %q, square %v; want %q, %v", test.body, bounds, square, test.bound, test.square)
		}
	}
}
