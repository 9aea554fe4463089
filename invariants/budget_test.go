package invariants_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"fsward/change"
	"fsward/invariants"
	"fsward/shareddata"
)

// TestTooManyRows checks that a rule that looks at too much for one record is undecided. The reason
// names the rule, its line, the goal and the counts. Other rules are not affected.
func TestTooManyRows(t *testing.T) {
	var text strings.Builder
	text.WriteString(
		"change(5, k(256,inode_item,0), object, null, present).\nobject(5, k(256,inode_item,0)).\n")
	for i := range 5000 {
		fmt.Fprintf(&text, "object(5, k(256,dir_index,%d)).\n", i)
	}
	f := parseFacts(t, text.String())
	const rules = `violation(1, T, I) :- add(T, k(I,inode_item,0)).
violation(2, T, I) :-
  add(T, k(I,inode_item,0)), query(T, k(I,dir_index,X)), query(T, k(I,dir_index,Y)), Y > X + 9999.`
	files := []invariants.File{{Name: "test.pl", Text: []byte(rules)}}
	o := invariants.Options{OpenVocabulary: true, Steps: 20000, StepsPerRecord: 1,
		RowsPerRecord: 10000}
	reference, err := invariants.NewReference(f.Txn.Schema, files, o)
	if err != nil {
		t.Fatal(err)
	}
	o.Steps = 1_000_000
	compiled, err := invariants.NewCompiled(f.Txn.Schema, files, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		engine invariants.Engine
		want   []string
	}{
		{reference, []string{"btrfs/2 at test.pl:2: ", "20001 steps", "a transaction of 1 records",
			"at query/2 of 5, k(256,dir_index,"}},
		{compiled, []string{"btrfs/2 at test.pl:2: ", "more than 10000 rows for one change record",
			"at query(T,k(I,dir_index,Y))", "rows in all"}},
	} {
		v := test.engine.Check(context.Background(), f.Txn, f.View)
		if v.Outcome != change.Violated || len(v.Violations) != 1 || len(v.Undecided) != 1 {
			t.Errorf("%v %v %v", v.Outcome, v.Violations, v.Undecided)
			continue
		}
		for _, want := range test.want {
			if !strings.Contains(v.Undecided[0], want) {
				t.Errorf("no %q in %q", want, v.Undecided[0])
			}
		}
	}
}

// TestRowsOfLargeDirectory checks that a directory whose names are more than the rows of one record
// is judged in a file system of which they are a part.
func TestRowsOfLargeDirectory(t *testing.T) {
	var text strings.Builder
	const dir = "5, k(256,inode_item,0)"
	fmt.Fprintf(&text, "object(%s).\nchange(%s, object, null, present).\n", dir, dir)
	for i := range 3000 {
		id := fmt.Sprintf("5, k(256,dir_index,%d)", i)
		fmt.Fprintf(&text, "object(%s).\nstate(%s, name_len, 2).\nchange(%s, name_len, null, 2).\n", id,
			id, id)
	}
	f := parseFacts(t, text.String())
	const rules = `violation(1, T, D) :-
  add(T, k(D,inode_item,0)), sum(N, new(T, k(D,dir_index,_), name_len, N), S), S =\= 6000.`
	e, err := invariants.NewCompiled(f.Txn.Schema,
		[]invariants.File{{Name: "test.pl", Text: []byte(rules)}},
		invariants.Options{OpenVocabulary: true, RowsPerRecord: 1000})
	if err != nil {
		t.Fatal(err)
	}
	v := e.CheckStream(context.Background(), &factStream{f.Txn, 100}, f.View, 1<<20)
	if v.Outcome != change.Holds {
		t.Errorf("%v: %v", v.Outcome, v.Undecided)
	}
}

// TestRowsOfManyAlike checks that the cost of one record does not grow with the number of similar
// records: thousands of entries of one type in a directory, thousands of names that an inode has in
// it.
func TestRowsOfManyAlike(t *testing.T) {
	const files = 3000
	var text strings.Builder
	for i := range files {
		for _, id := range []string{fmt.Sprintf("k(256,dir_index,%d)", i),
			fmt.Sprintf("k(257,inode_ref,a(256,%d))", i)} {
			fmt.Fprintf(&text,
				"change(5, %s, object, null, present).\nchange(5, %s, type, null, s_ifreg).\n", id, id)
		}
	}
	f := parseFacts(t, text.String())
	const rules = `
violation(1, T, k(D,dir_index,X)) :-
  add(T, k(D,dir_index,X)), not(new(T, k(D,dir_index,X), type, s_ifreg)).
violation(2, T, k(D,dir_index,X)) :-
  add(T, k(D,dir_index,X)), new(T, k(D,dir_index,X), type, s_ifdir).
violation(3, T, k(I,inode_ref,a(D,X))) :-
  add(T, k(I,inode_ref,a(D,X))), not(new(T, k(I,inode_ref,a(D,X)), type, s_ifreg)).
violation(4, T, k(I,inode_ref,a(D,X))) :-
  new(T, k(I,inode_ref,a(D,X)), type, _), not(add(T, k(I,inode_ref,a(D,X)))).`
	o := invariants.Options{OpenVocabulary: true, Steps: 1, StepsPerRecord: 50, RowsPerRecord: 20}
	if v := newEngine(t, f.Txn.Schema, rules, o).Check(context.Background(), f.Txn,
		f.View); v.Outcome != change.Holds {
		t.Errorf("%v: %v %v", v.Outcome, v.Violations, v.Undecided)
	}
}

// TestRowsOfShippedRules checks that no shipped rule of Btrfs looks at more than a few records and
// objects for each record of a transaction, wherever its files are.
func TestRowsOfShippedRules(t *testing.T) {
	files, err := invariants.Builtin("btrfs")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"tree-41k", "flat-42k"} {
		f := loadFacts(t, shareddata.Path(t, "rules", name+".pl.zst"))
		o := invariants.Options{OpenVocabulary: true, Steps: 1, StepsPerRecord: 2, MaxViolations: 1 << 20}
		for _, u := range compiledEngine(t, f.Txn.Schema, files, o).Check(context.Background(), f.Txn,
			f.View).Undecided {
			t.Errorf("%s: %s", name, u)
		}
	}
}

// TestBudgetIsDeterministic checks that the same rule takes the same number of steps each time: it
// is undecided at one budget and decided at the next, on every machine.
func TestBudgetIsDeterministic(t *testing.T) {
	rules := "violation(1, TREE, ID) :- new(TREE, ID), between(1, 200, _), fail."
	decided := func(steps int64) bool {
		return checkWorld(t, rules, invariants.Options{Steps: steps,
			StepsPerRecord: 1}).Outcome == change.Holds
	}
	low, high := int64(1), int64(1_000_000)
	if decided(low) || !decided(high) {
		t.Fatal("the rule is decided at every budget")
	}
	for low+1 < high {
		if mid := (low + high) / 2; decided(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	for range 3 {
		if decided(low) || !decided(high) {
			t.Fatalf("%d steps are enough in one run and not in another", high)
		}
	}
}
