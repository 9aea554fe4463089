package invariants_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"fsward/invariants"
)

// costOf runs a rule on a new inode, with a number of entries in its directory and a number of
// other new objects. It returns the questions to the state, and these plus the rows that were
// looked at.
func costOf(t *testing.T, rule string, entries, others int) (reads, all int) {
	t.Helper()
	var text strings.Builder
	text.WriteString(
		"change(5, k(300,inode_item,0), object, null, present).\n" +
			"change(5, k(300,inode_item,0), size, null, 7).\nobject(5, k(300,inode_item,0)).\n")
	for i := range entries {
		fmt.Fprintf(&text, "object(5, k(300,dir_index,%d)).\nstate(5, k(300,dir_index,%d), name, n%d).\n",
			i, i, i)
	}
	for i := range others {
		fmt.Fprintf(&text, "change(5, k(%d,extent_data,0), object, null, present).\n", 1000+i)
	}
	f := parseFacts(t, text.String())
	e, err := invariants.NewCompiled(f.Txn.Schema,
		[]invariants.File{{Name: "test.pl", Text: []byte(rule)}},
		invariants.Options{OpenVocabulary: true})
	if err != nil {
		t.Fatal(err)
	}
	if left := e.Fallbacks(); len(left) > 0 {
		t.Fatalf("%s: %s", rule, left[0].Why)
	}
	view := &countingView{View: f.View}
	if v := e.Check(context.Background(), f.Txn, view); len(v.Undecided) > 0 {
		t.Fatal(v.Undecided)
	}
	reads = view.lookups + view.scans + view.objects
	return reads, reads + int(e.Timing()[0].Rows)
}

// classTests are bodies of rules, and the class of their most expensive step.
var classTests = []struct {
	body  string
	class invariants.Class
}{
	{"change(T, k(I,inode_item,0), size, _, S), S > 9.", invariants.Constant},
	{"not(change(T, k(I,inode_item,0), size, _, _)).", invariants.Constant},
	{"delta_count(T, k(I,dir_index,_), N), N > 9999.", invariants.Constant},
	{"query(T, k(I,inode_item,0)), query(T, k(I,extent_data,0)).", invariants.LogN},
	{"query(T, k(I,dir_index,3), name, none).", invariants.LogN},
	{"not(query(T, k(I,_,_))).", invariants.LogN},
	{"not(query(T, k(I,dir_index,_))).", invariants.LogN},
	{"next(T, k(I,inode_item,0), k(_,extent_data,_)).", invariants.LogN},
	{"at_or_before(T, k(I,dir_index,5), k(_,extent_data,_)).", invariants.LogN},
	{"last_of_range(T, k(I,dir_index,N), 0, 5), N > 999999.", invariants.LogN},
	{"not(range(T, k(I,dir_index,_), 0, 999999)).", invariants.LogN},
	{"query(T, k(I,dir_index,X)), X > 999999.", invariants.Directory},
	{"query(T, k(I,_,X)), X = 999999.", invariants.Directory},
	{"query(T, k(I,dir_index,_), name, none).", invariants.Directory},
	{"range(T, k(I,dir_index,X), 0, 999999), X > 999998.", invariants.Directory},
	{"count(query(T, k(I,dir_index,_)), N), N > 999999.", invariants.Directory},
	{"not((query(T, k(I,dir_index,X)), X > 999999)).", invariants.Directory},
	{"change(T, k(J,extent_data,_), object, _, _), J < I.", invariants.Tree},
	{"change(T, k(J,KIND,_), object, _, _), KIND = extent_data, J < I.", invariants.Tree},
}

// TestClassIsWhatIsRead checks that the class of a step says how its cost grows. It counts reads of
// the state and of records, for a directory ten times as large and for a commit ten times as large.
func TestClassIsWhatIsRead(t *testing.T) {
	const new = "violation(1, T, I) :- add(T, k(I,inode_item,0)), "
	for _, test := range classTests {
		rule := new + test.body
		e, err := loadOpen(t, rule)
		if err != nil {
			t.Fatal(err)
		}
		plans, err := e.Explain("1")
		if err != nil {
			t.Fatal(err)
		}
		worst, warned := invariants.Constant, false
		rank := map[invariants.Class]int{invariants.Constant: 0, invariants.LogN: 1,
			invariants.Directory: 2, invariants.Tree: 3}
		kept := false
		for _, s := range plans[0].Steps[1:] {
			kept = kept || strings.HasPrefix(s.Access, "kept")
			if !kept && rank[s.Class] > rank[worst] {
				worst = s.Class
			}
			warned = warned || s.Warning != ""
		}
		if worst != test.class || warned != (rank[test.class] > rank[invariants.LogN]) {
			t.Errorf("%s: class %s, warned %v, want %s\n%+v", test.body, worst, warned, test.class,
				plans[0].Steps)
		}
		reads, base := costOf(t, rule, 100, 100)
		_, directory := costOf(t, rule, 1000, 100)
		_, commit := costOf(t, rule, 100, 1000)
		if (reads > 0) != (test.class == invariants.LogN || test.class == invariants.Directory) {
			t.Errorf("%s: the state was read %d times", test.body, reads)
		}
		if grows := directory > 5*base; grows != (test.class == invariants.Directory) {
			t.Errorf("%s: costs %d, with a directory ten times as large %d", test.body, base, directory)
		}
		if grows := commit > 5*base; grows != (test.class == invariants.Tree) {
			t.Errorf("%s: costs %d, with a commit ten times as large %d", test.body, base, commit)
		}
	}
}

func loadOpen(t *testing.T, rules string) (*invariants.Compiled, error) {
	f := parseFacts(t, "object(5, k(1,inode_item,0)).\nobject(5, k(1,dir_index,0)).\n"+
		"object(5, k(1,extent_data,0)).\nstate(5, k(1,dir_index,0), name, a).\n"+
		"state(5, k(1,inode_item,0), size, 1).")
	return invariants.NewCompiled(f.Txn.Schema,
		[]invariants.File{{Name: "test.pl", Text: []byte(rules)}},
		invariants.Options{OpenVocabulary: true})
}

// TestExplainWays checks that the alternatives of a disjunction are shown separately if they do not
// become plans of their own, with their tests of values.
func TestExplainWays(t *testing.T) {
	for _, test := range []struct{ body, want string }{
		{"not(( T = 5 ; query(T, k(I,extent_data,0)) )).",
			"negation, T = 5, or query(T,k(I,extent_data,0))"},
		{"not((( X = 4 ; X = 8 ), query(T, k(I,extent_data,X)))).",
			"negation, query(T,k(I,extent_data,4)), or query(T,k(I,extent_data,8))"},
		{"( query(T, k(I,extent_data,0)) -> T = 5 ; query(T, k(I,dir_index,0)) ).",
			"condition, query(T,k(I,extent_data,0)), T = 5, or query(T,k(I,dir_index,0))"},
	} {
		e, err := loadOpen(t, "violation(1, T, I) :- add(T, k(I,inode_item,0)), "+test.body)
		if err != nil {
			t.Fatal(err)
		}
		plans, err := e.Explain("1")
		if err != nil || len(plans) != 1 {
			t.Fatalf("%d plans, %v", len(plans), err)
		}
		var got []string
		for i, s := range plans[0].Steps[1:] {
			text := map[bool]string{true: "or "}[s.Or] + s.Goal
			if i == 0 {
				text = s.Access
			}
			got = append(got, text)
		}
		if strings.Join(got, ", ") != test.want {
			t.Errorf("%s: %s, want %s", test.body, strings.Join(got, ", "), test.want)
		}
	}
}

// TestExplainText checks that the goals that Explain writes can be parsed again: they have brackets
// where necessary, and only names from the text.
func TestExplainText(t *testing.T) {
	const begin = "change(T,k(I,inode_item,0),size,_,S)"
	for _, test := range []struct{ goal, want string }{
		{"(S + 1) * 2 > 3 + 4 * S", "(S + 1) * 2 > 3 + 4 * S"},
		{"S - (1 - S) > 0", "S - (1 - S) > 0"},
		{"S - 1 - S > 0", "S - 1 - S > 0"},
		{"(S + 7) mod 8 - 1 =:= S /\\ 3", "(S + 7) mod 8 - 1 =:= S /\\ 3"},
		{"not((S > 1, S < 5))", "\\+((S > 1, S < 5))"},
		{"not((S > 1 ; S < 5, I > 3))", "\\+((S > 1 ; S < 5, I > 3))"},
		{"not(((S > 1 ; S < 5), I > 3))", "\\+(((S > 1 ; S < 5), I > 3))"},
		{"not((S > 1 -> I > 3 ; I > 4))", "\\+((S > 1 -> I > 3 ; I > 4))"},
		{"not(query(T,k(I,dir_index,_)))", "\\+(query(T,k(I,dir_index,_)))"},
		{"( query(T,k(I,dir_index,NUMBER)), NUMBER > S ; " +
			"change(T,k(I,extent_data,_),object,null,present) )",
			"change(T,k(I,extent_data,_),object,null,present)"},
	} {
		rule := "violation(1, T, I) :- " + begin + ", " + test.goal + "."
		f := parseFacts(t, "change(5, k(300,inode_item,0), size, null, 7).\n"+
			"object(5, k(300,dir_index,2)).\nobject(5, k(300,extent_data,0)).\n")
		e, err := invariants.NewCompiled(f.Txn.Schema,
			[]invariants.File{{Name: "test.pl", Text: []byte(rule)}},
			invariants.Options{OpenVocabulary: true})
		if err != nil {
			t.Fatal(err)
		}
		plans, err := e.Explain("1")
		if err != nil {
			t.Fatal(err)
		}
		var goals []string
		for _, plan := range plans {
			for _, s := range plan.Steps {
				goals = append(goals, s.Goal)
			}
		}
		if !slices.Contains(goals, test.want) {
			t.Errorf("%s: %q", test.goal, goals)
		}
	}
}
