package invariants_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fsward/change"
	"fsward/invariants"
	"fsward/invariants/facts"
)

func newSession(t *testing.T, rules string,
	o invariants.Options) (*invariants.QuerySession, *facts.Facts) {
	t.Helper()
	f := parseFacts(t, world)
	p, err := invariants.NewQuerySession(f.Txn.Schema,
		[]invariants.File{{Name: "test.pl", Text: []byte(rules)}}, o)
	if err != nil {
		t.Fatal(err)
	}
	return p, f
}

const sessionRules = `
% Rule 1. Whatever appears has a size that is small.
violation(1, TREE, ID) :- add(TREE, ID), not(small(TREE, ID)), helper(TREE).
small(TREE, ID) :- query(TREE, ID, size, SIZE), SIZE < 100.
helper(5).
% Rule 2. An entry leads to an inode with a name.
violation(2, TREE, ENTRY) :-
  ( TREE = 9 ; TREE = 5 ),
  new(TREE, ENTRY, location, k(INODE, inode_item, 0)),
  query(TREE, k(INODE, inode_ref, a(_, _))),
  count(query(TREE, k(INODE, inode_ref, _)), N), N > 0,
  verify(named(TREE, INODE)).
named(TREE, INODE) :-
  query(TREE, k(INODE, inode_ref, a(256, INDEX)), name, NAME), crc32c(NAME, 1), INDEX > 7.
`

// TestAsk checks that Ask returns all answers of a goal, with helpers and rules of the set, and
// distinguishes numbers from other terms.
func TestAsk(t *testing.T) {
	p, f := newSession(t, sessionRules, invariants.Options{})
	for _, test := range []struct{ goal, want string }{
		{"query(5, k(256, dir_item, HASH))", "HASH: 42#; 50#"},
		{"?- query(5, k(256, dir_item, H), name, N).", `H,N: 42#,'a file'; 50#,'\xff\\xfe\'`},
		{"query(5,k(257,inode_item,0),size,S), X is S + 1",
			"S,X: 18446744073709551615#,18446744073709551616#"},
		{"violation(1, T, I)",
			"T,I: 5#,k(257,inode_item,0); 5#,k(257,inode_ref,a(256,2)); 5#,k(300,dir_item,9)"},
		{"helper(X), _Y = 3", "X: 5#"},
		{"query(5, k(999, inode_item, 0))", ":"},
		{"helper(5)", ": "},
		{"change(T, k(258, inode_item, 0), F, OLD, null)", "T,F,OLD: 5#,object,present; 5#,size,10#"},
		{"X = f(_), query(5, k(257, inode_item, 0), f(mode, s_ifmt), Y)", "X,Y: f(_),'s_ifreg'"},
	} {
		a, err := p.Ask(context.Background(), f.Txn, f.View, test.goal, 100)
		if err != nil {
			t.Errorf("%s: %v", test.goal, err)
			continue
		}
		got := strings.Join(a.Variables, ",") + ":"
		for i, row := range a.Rows {
			var cells []string
			for _, c := range row {
				cells = append(cells, c.Text+map[bool]string{true: "#"}[c.Number])
			}
			got += []string{" ", "; "}[min(i, 1)] + strings.Join(cells, ",")
		}
		if got != test.want {
			t.Errorf("%s gives %s, want %s", test.goal, got, test.want)
		}
	}
	a, err := p.Ask(context.Background(), f.Txn, f.View, "between(1, 10, X)", 3)
	if err != nil || len(a.Rows) != 3 || !a.More {
		t.Errorf("three answers of ten: %+v, %v", a, err)
	}
}

func TestAskErrors(t *testing.T) {
	p, f := newSession(t, sessionRules, invariants.Options{Steps: 5000, StepsPerRecord: 1})
	for goal, want := range map[string]string{
		"nonsense(X)":                   "unknown predicate nonsense/1",
		"query(5, k(256, dir_itm, H))":  "unknown kind of object dir_itm",
		"query(5, k(256, dir_item, H)":  "expected",
		"a. b":                          "write one goal",
		"between(1, 1000000, X), X < 0": "more than the",
		"query(T, k(256, dir_item, H))": "needs a TREE",
		"query(5, k(I, dir_item, H))":   "needs the object id, which k(_,dir_item,_) does not give",
		"add(5, I), I >":                "expected a term before full stop",
		"":                              "query:1",
		"'$holds'(true)":                "unknown predicate",
	} {
		if _, err := p.Ask(context.Background(), f.Txn, f.View, goal, 10); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", goal, err, want)
		}
	}
	// A mistake does not affect later questions.
	if _, err := p.Ask(context.Background(), f.Txn, f.View, "helper(X)", 10); err != nil {
		t.Error(err)
	}
}

// TestWhy checks that the reasons are those of the proof that succeeded, and not of abandoned
// branches.
func TestWhy(t *testing.T) {
	p, f := newSession(t, sessionRules, invariants.Options{})
	e := newEngine(t, f.Txn.Schema, sessionRules, invariants.Options{})
	found := e.Check(context.Background(), f.Txn, f.View)
	var got []string
	for _, v := range found.Violations {
		reasons, err := p.Why(context.Background(), f.Txn, f.View, v)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, v.Rule+" "+v.ID)
		for _, r := range reasons {
			got = append(got, fmt.Sprintf("  %s %s <- %s", r.Kind, r.Goal, r.Because))
		}
	}
	want := []string{
		"btrfs/1 k(257,inode_item,0)",
		"  record change(5,k(257,inode_item,0),object,null,present) <- ",
		"  absent not(small(5,k(257,inode_item,0))) <- 18446744073709551615<100",
		"btrfs/1 k(257,inode_ref,a(256,2))",
		"  record change(5,k(257,inode_ref,a(256,2)),object,null,present) <- ",
		"  absent not(small(5,k(257,inode_ref,a(256,2)))) <- query(5,k(257,inode_ref,a(256,2)),size,_)",
		"btrfs/1 k(300,dir_item,9)",
		"  record change(5,k(300,dir_item,9),object,null,present) <- ",
		"  absent not(small(5,k(300,dir_item,9))) <- query(5,k(300,dir_item,9),size,_)",
		"btrfs/2 k(256,dir_item,42)",
		"  record change(5,k(256,dir_item,42),location,null,k(257,inode_item,0)) <- ",
		"  state query(5,k(257,inode_ref,a(256,2))) <- ",
		"  test count(query(5,k(257,inode_ref,_)),2) <- ",
		"  test 2>0 <- ",
		"  absent verify(named(5,257)) <- crc32c('a file',1)",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("reasons (-want +got):\n%s", d)
	}
	if _, err := p.Why(context.Background(), f.Txn, f.View,
		change.Violation{Rule: "btrfs/1", Tree: "5", ID: "k(1,inode_item,0)"}); err == nil {
		t.Error("an object that does not violate the rule is explained")
	}
}
