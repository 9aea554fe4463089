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

// links returns a transaction that gives and takes names of inodes, and allocates extents in two
// groups.
func links(inodes int) string {
	var b strings.Builder
	for i := range inodes {
		inode := 300 + i
		fmt.Fprintf(&b, "change(5, k(%d,inode_item,0), nlink, 1, %d).\n", inode, 1+i%3)
		for n := range 4 {
			if n < i%3+1 {
				fmt.Fprintf(&b, "change(5, k(%d,inode_ref,a(256,%d)), object, null, present).\n", inode, 10+n)
			}
		}
		fmt.Fprintf(&b, "change(5, k(%d,inode_ref,a(256,9)), object, present, null).\n", inode)
		fmt.Fprintf(&b, "change(5, k(%d,extent_data,0), num_bytes, %d, %d).\n", inode, 4096*i, 100)
		fmt.Fprintf(&b, "change(5, k(%d,extent_data,4096), num_bytes, null, 18446744073709551615).\n",
			inode)
		side := []string{"null,present", "present,null"}[i%2]
		fmt.Fprintf(&b, "change(2, k(%d,extent_item,%d), object, %s).\n", 1000+i*7, 5+i, side)
	}
	b.WriteString("change(5, k(-10,inode_ref,a(256,1)), object, null, present).\n")
	b.WriteString(
		"object(3, k(256,chunk_item,1000)).\nobject(3, k(256,chunk_item,1100)).\n" +
			"change(2, k(1000,block_group_item,100), used, 10, 20).\n")
	b.WriteString("change(2, k(1100,block_group_item,100), used, 0, 1).\n")
	return b.String()
}

const sumRules = `
% Names won less names lost, by inode.
violation(names, T, r(I, S)) :-
  change(T, k(I,inode_item,0), nlink, O, N), sum(D, name(T, I, D), S), N =\= O + S.
name(T, I, 1) :- add(T, k(I, inode_ref, _)).
name(T, I, -1) :- delete(T, k(I, inode_ref, _)).

% The same sum under another condition, with the literal tree.
violation(all, 5, S) :- change(5, k(300,inode_item,0), nlink, _, _), sum(D, name(5, _, D), S).

% Bytes by inode: sums beyond 64 bits.
violation(bytes, T, r(I, S)) :-
  change(T, k(I,inode_item,0), nlink, _, _),
  sum(NEW - OLD, default_zero(T, k(I,extent_data,_), num_bytes, OLD, NEW), S).
violation(delta, T, r(I, S, N)) :-
  change(T, k(I,inode_item,0), nlink, _, _),
  delta(T, k(I,extent_data,_), num_bytes, S), delta_count(T, k(I,inode_ref,_), N).

% A key that is looked up for each change.
violation(used, T, r(START, S)) :-
  change(T, k(START,block_group_item,_), used, _, _), sum(L, used(START, L), S).
used(START, L) :- add(2, k(E, extent_item, L)), in(E, START).
used(START, L) :- delete(2, k(E, extent_item, M)), L is -M, in(E, START).
in(E, START) :- last_of_range(3, k(256,chunk_item,START), 0, E).

% Counts, with an inode that has none, and one that is no inode.
violation(count, T, r(I, J, N)) :-
  change(T, k(I,inode_item,0), nlink, _, _), J is I + 100000,
  count(add(T, k(I, inode_ref, _)), N), count(add(T, k(J, inode_ref, _)), 0).
violation(negative, 5, N) :-
  change(5, k(300,inode_item,0), nlink, _, _), K is 0 - 10, count(add(5, k(K, inode_ref, _)), N).

% A negation with a key that the change before it gives a value to.
violation(denied, T, r(I, N)) :-
  change(T, k(I,inode_item,0), nlink, _, _),
  count((add(T, k(I,inode_ref,a(_,X))), not(delete(T, k(I,inode_ref,a(_,X))))), N).

% Goals that mean another thing without a value, or that need one.
violation(given, T, r(I, N)) :-
  change(T, k(I,inode_item,0), nlink, _, X), count((not(X = 1), add(T, k(I,inode_ref,_))), N).
violation(less, T, r(I, N)) :-
  change(T, k(I,inode_item,0), nlink, _, X),
  count((add(T, k(J,inode_ref,a(_,Y))), J =< I, Y > X + 9), N).
violation(factor, T, r(I, N)) :-
  change(T, k(I,inode_item,0), nlink, _, X), sum(X * Y, add(T, k(I,inode_ref,a(_,Y))), N).
violation(first, T, r(I, N)) :-
  change(T, k(I,inode_item,0), nlink, _, _), count(once(add(T, k(I,inode_ref,_))), N).
`

// TestSums checks that sums over changes are the same whether they are kept by key or searched for,
// and cost one pass.
func TestSums(t *testing.T) {
	f := parseFacts(t, links(30))
	e := newBoth(t, f.Txn.Schema, sumRules,
		invariants.EagerSums(invariants.Options{OpenVocabulary: true}))
	v := e.Check(context.Background(), f.Txn, f.View)
	if len(v.Undecided) > 0 {
		t.Error(v.Undecided)
	}
	var got []string
	for _, x := range v.Violations {
		if strings.Contains(x.ID, "(301") || !strings.Contains(x.ID, "(3") {
			got = append(got, strings.TrimPrefix(x.Rule, "btrfs/")+" "+x.ID)
		}
	}
	want := []string{"all 31", "bytes r(301,18446744073709547619)", "count r(301,100301,2)",
		"delta r(301,18446744073709547619,1)", "denied r(301,2)", "factor r(301,42)",
		"first r(301,1)", "given r(301,2)", "less r(301,0)", "negative 1", "used r(1000,12)",
		"used r(1100,-27)"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestSumsKept checks that the plan says which sums are kept. A sum is not kept if it would mean
// something else for all keys at once.
func TestSumsKept(t *testing.T) {
	f := parseFacts(t, links(3))
	e, err := invariants.NewCompiled(f.Txn.Schema,
		[]invariants.File{{Name: "test.pl", Text: []byte(sumRules)}},
		invariants.Options{OpenVocabulary: true})
	if err != nil {
		t.Fatal(err)
	}
	for rule, kept := range map[string]bool{"names": true, "all": true, "bytes": true, "delta": true,
		"used": true, "count": true, "denied": true,
		"given": false, "less": false, "factor": false, "first": false} {
		plans, err := e.Explain(rule)
		if err != nil {
			t.Fatal(err)
		}
		got := false
		for _, s := range plans[0].Steps {
			got = got || strings.HasPrefix(s.Access, "kept")
		}
		if got != kept || plans[0].Reference != "" {
			t.Errorf("rule %s: kept %v, want %v; %+v", rule, got, kept, plans)
		}
	}
}

// TestSumsCostOnePass checks that the rows that sums cost grow linearly with the transaction.
func TestSumsCostOnePass(t *testing.T) {
	rows := func(n int) int64 {
		var text strings.Builder
		for i := range n { // one inode gets n names, each of which asks for their number
			fmt.Fprintf(&text, "change(5, k(300,inode_ref,a(256,%d)), object, null, present).\n", i)
			fmt.Fprintf(&text, "change(5, k(%d,inode_ref,a(256,%d)), object, null, present).\n", 301+i, i)
		}
		f, err := facts.Parse(text.String())
		if err != nil {
			t.Fatal(err)
		}
		rules := `
violation(1, T, k(I,inode_item,0)) :-
  add(T, k(I,inode_ref,_)), count(add(T, k(I,inode_ref,_)), N), N > 1000000.
violation(2, T, k(I,inode_item,0)) :-
  add(T, k(I,inode_ref,a(_,X))), count(add(T, k(_,inode_ref,a(_,X))), N), N > 1000000.`
		e, err := invariants.NewCompiled(f.Txn.Schema,
			[]invariants.File{{Name: "test.pl", Text: []byte(rules)}},
			invariants.Options{OpenVocabulary: true})
		if err != nil {
			t.Fatal(err)
		}
		if v := e.Check(context.Background(), f.Txn, f.View); v.Outcome != change.Holds {
			t.Fatal(v.Outcome, v.Undecided)
		}
		return e.Timing()[0].Rows + e.Timing()[1].Rows
	}
	// Each record costs five rows if one worker adds up, and eight if both do, whatever the number
	// of records.
	for _, names := range []int{2000, 20000, 60000} {
		if got, most := rows(names), int64(8*2*names+8); got > most {
			t.Errorf("%d rows for %d records, want at most %d", got, 2*names, most)
		}
	}
}
