package invariants_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"fsward/invariants"
	"fsward/invariants/facts"
)

// chunks has objects in two trees; those of tree 3 lie at multiples of 100.
const chunks = `
change(2, k(150,extent_item,20), object, null, present).
change(2, k(399,extent_item,20), object, null, present).
object(3, k(1,dev_item,1)).
object(3, k(256,chunk_item,100)).
object(3, k(256,chunk_item,200)).
object(3, k(256,chunk_item,300)).
object(3, k(256,chunk_item,18446744073709551615)).
object(5, k(256,inode_item,0)).
object(5, k(257,inode_ref,a(256,2))).
object(5, k(257,inode_ref,a(256,3))).
object(5, k(257,inode_ref,a(400,2))).
object(5, k(-10,extent_csum,4096)).
`

// TestRanges checks that ranges go up and down, with numbers and with keys as their bounds, and
// walks find the nearest key.
func TestRanges(t *testing.T) {
	answers(t, chunks, map[string]string{
		// Numbers as bounds.
		"range(3, k(256,chunk_item,X), 100, 300)":                      "100 200 300",
		"range_down(3, k(256,chunk_item,X), 100, 300)":                 "100 200 300",
		"range(3, k(256,chunk_item,X), 101, 299)":                      "200",
		"range_down(3, k(256,chunk_item,X), -5, 250)":                  "100 200",
		"range(3, k(256,chunk_item,X), 300, 200)":                      "",
		"range(3, k(256,chunk_item,X), 300, 18446744073709551615 * 2)": "18446744073709551615 300",

		"range(3, k(256,chunk_item,X), 18446744073709551615 * 2, 18446744073709551615)": "",

		"range_down(3, k(256,chunk_item,X), -2, -1)":         "",
		"range(3, k(256,chunk_item,200), 100, 300), X = yes": "yes",
		"range(3, k(256,chunk_item,200), 100, 150), X = yes": "",
		"range(9, k(256,chunk_item,X), 100, 300)":            "",

		"range(5, k(257,inode_ref,X), 256, 300)":             "a(256,2) a(256,3)",
		"range_down(5, k(257,inode_ref,a(256,X)), 256, 400)": "2 3",
		"range(5, k(-10,extent_csum,X), 0, 5000)":            "4096",

		// Keys as bounds.
		"range(3, k(256,X,_), k(256,_,_), k(256,_,200))":       "chunk_item",
		"range(5, k(X,_,_), k(_,_,_), k(257,_,_))":             "256 257",
		"range_down(5, k(X,inode_item,_), k(_,_,_), k(_,_,_))": "256",

		"range(5, X, k(257,inode_ref,300), k(_,_,_))": "k(257,inode_ref,a(400,2)) " +
			"k(-10,extent_csum,4096)",

		"range(5, k(X,_,_), k(258,_,_), k(257,_,_))": "",

		// Ranges inside other goals.
		"once(range_down(3, k(256,chunk_item,X), 0, 299))":                         "200",
		"last_of_range(3, k(256,chunk_item,X), 0, 299)":                            "200",
		"last_of_range(3, k(256,chunk_item,100), 0, 299), X = yes":                 "",
		"first_of_range(3, k(256,chunk_item,X), 101, 999)":                         "200",
		"add(2, k(E,extent_item,_)), last_of_range(3, k(256,chunk_item,X), 0, E)":  "100 300",
		"add(2, k(E,extent_item,L)), range(3, k(256,chunk_item,X), E, E + 70 - L)": "200",

		"count(range(3, k(256,chunk_item,_), 100, 300), X)":           "3",
		"findall(Y, range(3, k(256,chunk_item,Y), 100, 300), X)":      "[100,200,300]",
		"findall(Y, range_down(3, k(256,chunk_item,Y), 100, 300), X)": "[300,200,100]",
		"findall(Y, range_down(5, k(257,inode_ref,Y), 0, 999), X)":    "[a(400,2),a(256,3),a(256,2)]",
		"sum(Y, range(3, k(256,chunk_item,Y), 100, 300), X)":          "600",
		"not(range(3, k(256,chunk_item,_), 101, 199)), X = none":      "none",

		// Neighbors of a key.
		"at_or_before(3, k(256,chunk_item,250), k(256,chunk_item,X))": "200",
		"at_or_before(3, k(256,chunk_item,200), k(256,chunk_item,X))": "200",
		"previous(3, k(256,chunk_item,200), k(256,chunk_item,X))":     "100",
		"at_or_after(3, k(256,chunk_item,201), k(256,chunk_item,X))":  "300",
		"at_or_after(3, k(256,chunk_item,300), k(256,chunk_item,X))":  "300",
		"next(3, k(256,chunk_item,0), k(256,chunk_item,X))":           "100",
		"at_or_before(3, k(256,chunk_item,99), k(X,dev_item,_))":      "1",
		"at_or_before(3, k(0,chunk_item,99), k(X,_,_))":               "",
		"at_or_after(5, k(257,inode_ref,a(256,3)), k(_,_,X))":         "a(256,3)",
	})
}

// TestRangeMistakes checks that a range is undecided in both engines if its bounds are not numbers
// or its object is unknown.
func TestRangeMistakes(t *testing.T) {
	for _, goal := range []string{
		"range(3, k(256,chunk_item,X), a, 3)", "add(_, k(X,_,_)), range(3, k(256,chunk_item,X), 0, NONE)",
		"range(3, k(_,chunk_item,X), 0, 9)", "range(3, k(256,_,X), 0, 9)", "range(3, X, 0, 9)",
		"range(_, k(256,chunk_item,X), 0, 9)",
		"range(3, k(256,chunk_item,X), k(1,_,_), 9)", "range(3, X, k(_,nothing,_), k(_,_,_))",
		"add(T, k(_,TYPE,_)), range(T, X, k(TYPE,_,_), k(_,_,_))",
	} {
		f := parseFacts(t, chunks)
		e := newBoth(t, f.Txn.Schema, "violation(1, 5, X) :- "+goal+".",
			invariants.Options{OpenVocabulary: true})
		if v := e.Check(context.Background(), f.Txn, f.View); len(v.Undecided) == 0 {
			t.Errorf("%s: %v, want undecided", goal, v.Outcome)
		}
	}
}

// TestRangeReadsNoMoreThanAsked checks that a query for the first object of a range reads one
// object, however many there are. A query for all objects searches only a few times.
func TestRangeReadsNoMoreThanAsked(t *testing.T) {
	var text strings.Builder
	for i := range 10000 {
		fmt.Fprintf(&text, "object(3, k(256,chunk_item,%d)).\n", i)
	}
	f, err := facts.Parse("change(3, k(256,chunk_item,1), object, null, present).\n" + text.String())
	if err != nil {
		t.Fatal(err)
	}
	for goal, want := range map[string]struct{ read, searches int }{

		// Ranges inside other goals.
		"once(range_down(3, k(256,chunk_item,X), 0, 5000))":   {1, 1},
		"once(range(3, k(256,chunk_item,X), 10, 5000))":       {1, 1},
		"not(range(3, k(256,chunk_item,_), 10, 5000)), X = 1": {1, 1},

		"count(range(3, k(256,chunk_item,_), 0, 9999), X)":      {10000, 8},
		"count(range_down(3, k(256,chunk_item,_), 0, 9999), X)": {10000, 8},
	} {
		files := []invariants.File{{Name: "test.pl", Text: []byte("violation(1, 3, X) :- " + goal + ".")}}
		e, err := invariants.NewCompiled(f.Txn.Schema, files, invariants.Options{OpenVocabulary: true})
		if err != nil {
			t.Fatal(err)
		}
		if why := e.Fallbacks(); len(why) > 0 {
			t.Errorf("%s is not compiled: %s", goal, why[0].Why)
		}
		view := &countingView{View: f.View}
		if v := e.Check(context.Background(), f.Txn, view); len(v.Undecided) > 0 {
			t.Errorf("%s: %v", goal, v.Undecided)
		}
		if view.objects > want.read || view.scans > want.searches {
			t.Errorf("%s read %d objects in %d searches, want at most %d in %d", goal, view.objects,
				view.scans, want.read, want.searches)
		}
	}
}
