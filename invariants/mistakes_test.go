package invariants_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"fsward/change"
	"fsward/invariants"
)

// mistakeTests are rules with a mistake, the hint in the error, and a similar rule without it.
var mistakeTests = []struct{ name, wrong, hint, right string }{
	{"unknown predicate", "violation(1, T, I) :- new(T, I), fiel_tree(T).\nfile_tree(5).",
		"did you mean file_tree?",
		"violation(1, T, I) :- new(T, I), file_tree(T).\nfile_tree(5)."},
	{"arity", "violation(1, T, I) :- new(T, I, size).", "there is new/2, new/4",
		"violation(1, T, I) :- new(T, I, size, _)."},
	{"arity of a range",
		"violation(1, T, I) :- new(T, k(I,inode_item,0)), range(T, k(I,inode_item,_), 0).",
		"there is range/4",
		"violation(1, T, I) :- new(T, k(I,inode_item,0)), range(T, k(I,inode_item,_), 0, 1)."},
	{"field", "violation(1, T, I) :- new(T, I, sise, _).", "did you mean size?",
		"violation(1, T, I) :- new(T, I, size, _)."},
	{"field of delta", "violation(1, T, D) :- new(T, _), delta(T, k(_,inode_item,0), sise, D).",
		"did you mean size?",
		"violation(1, T, D) :- new(T, _), delta(T, k(_,inode_item,0), size, D)."},
	{"field of another kind", "violation(1, T, I) :- new(T, k(I,inode_item,0), name, _).",
		"it has size, f(mode,s_ifmt)",
		"violation(1, T, I) :- new(T, k(I,inode_ref,_), name, _)."},
	{"kind", "violation(1, T, I) :- add(T, k(I,inode_itme,0)).", "did you mean inode_item?",
		"violation(1, T, I) :- add(T, k(I,inode_item,0))."},
	{"kind in a bound", "violation(1, T, I) :- new(T, _), range(T, I, k(_,_,_), k(_,inode_itme,_)).",
		"did you mean inode_item?",
		"violation(1, T, I) :- new(T, _), range(T, I, k(_,_,_), k(_,inode_item,_))."},
	{"unbound in a comparison", "violation(1, T, I) :- new(T, I), SIZE > 3.",
		"put the goal that gives it a value first",
		"violation(1, T, I) :- new(T, I, size, SIZE), SIZE > 3."},
	{"unbound in arithmetic", "violation(1, T, N) :- new(T, _), N is SIZE + 1.",
		"put the goal that gives it a value first",
		"violation(1, T, N) :- new(T, _, size, SIZE), N is SIZE + 1."},
	{"unbound in a negation",
		"violation(1, T, I) :- new(T, _), not(add(T, k(I,inode_item,0))), " +
			"new(T, k(I,inode_item,0)).", "put the goal that gives it a value first",
		"violation(1, T, I) :- new(T, k(I,inode_item,0)), not(add(T, k(I,inode_item,0)))."},
	{"unbound in verify",
		"violation(1, T, I) :- new(T, _), verify(add(T, k(I,inode_item,0))), " +
			"new(T, k(I,inode_item,0)).", "put the goal that gives it a value first",
		"violation(1, T, I) :- new(T, k(I,inode_item,0)), verify(add(T, k(I,inode_item,0)))."},
	{"no object id in a query",
		"violation(1, T, I) :- new(T, I), query(T, k(J,inode_item,0)), J > 3.",
		"put the goal that gives it a value first",
		"violation(1, T, I) :- new(T, k(J,_,_)), query(T, k(J,inode_item,0)), J > 3, I = J."},
	{"no tree in a query", "violation(1, T, I) :- query(T, k(256,inode_item,I), size, _).",
		"T has no value in query(T,k(256,inode_item,I),size,_)",
		"violation(1, 5, I) :- query(5, k(256,inode_item,I), size, _)."},
	{"no key to walk from",
		"violation(1, T, I) :- new(T, k(I,inode_item,0)), next(T, k(I,inode_item,X), " +
			"k(I,inode_item,X)).", "put the goal that gives it a value first",
		"violation(1, T, I) :- new(T, k(I,inode_item,X)), next(T, k(I,inode_item,X), " +
			"k(I,inode_item,X))."},
	{"a value in one way alone",
		"violation(1, T, I) :- new(T, I), ( J = 3 ; true ), query(T, k(J,inode_item,0)).",
		"put the goal that gives it a value first",
		"violation(1, T, I) :- new(T, I), ( J = 3 ; J = 4 ), query(T, k(J,inode_item,0))."},
	{"unstratified", "violation(1, T, I) :- new(T, k(I,inode_item,0)), p(T, I).\n" +
		"p(T, I) :- query(T, k(I,inode_item,0)), not(p(T, I)).", "split it into predicates that do not",
		"violation(1, T, I) :- new(T, k(I,inode_item,0)), p(T, I).\n" +
			"p(T, I) :- query(T, k(I,inode_item,0)), not(q(T, I)).\nq(T, I) :- add(T, k(I,inode_ref,_))."},
	{"unstratified through another", "violation(1, T, I) :- new(T, k(I,inode_item,0)), p(T, I).\n" +
		"p(T, I) :- count(q(T, I), N), N > 1.\nq(T, I) :- p(T, I).",
		"split it into predicates that do not",
		"violation(1, T, I) :- new(T, k(I,inode_item,0)), p(T, I).\n" +
			"p(T, I) :- count(q(T, I), N), N > 1.\nq(T, I) :- add(T, k(I,inode_ref,_))."},
	{"never true", "violation(1, T, I) :- new(T, k(I,KIND,0)), is_file(KIND), KIND = inode_ref.\n" +
		"is_file(inode_item).", "inode_item = inode_ref is never true",
		"violation(1, T, I) :- new(T, k(I,KIND,0)), is_file(KIND), KIND = inode_item.\n" +
			"is_file(inode_item)."},
	{"never true by its kind", "violation(1, T, I) :- KIND = inode_item, add(T, k(I,KIND,a(_,_))).",
		"is never true",
		"violation(1, T, I) :- KIND = inode_ref, add(T, k(I,KIND,a(_,_)))."},
	{"never true together", "violation(1, T, I) :- new(T, I, size, S), S > 3, big(S), 4 > S.\n" +
		"big(S) :- S =\\= 7.", "S > 3 and 4 > S are never true together",
		"violation(1, T, I) :- new(T, I, size, S), S > 3, big(S), 5 > S.\nbig(S) :- S =\\= 7."},
	{"never true together, in a helper",
		"violation(1, T, I) :- new(T, I, size, S), S =:= 18446744073709551615, small(S).\n" +
			"small(S) :- S =< 4.", "are never true together",
		"violation(1, T, I) :- new(T, I, size, S), S =:= 18446744073709551615, small(S).\n" +
			"small(S) :- S >= 4."},
	{"compared with an atom", "violation(1, T, I) :- new(T, I, size, S), S > big.",
		"big is not a number", "violation(1, T, I) :- new(T, I, size, S), S \\== big."},
	{"no change", "violation(1, T, I) :- change(T, I, size, S, S).", "has two values that differ",
		"violation(1, T, I) :- change(T, I, object, S, S)."},
	{"cut", "violation(1, T, I) :- new(T, I), !.", "use once/1 or a helper predicate",
		"violation(1, T, I) :- once(new(T, I))."},
	{"shape", "violation(1, T, I) :- add(T, k(I,inode_ref,0)).", "k(_,inode_ref,0)",
		"violation(1, T, I) :- add(T, k(I,inode_ref,a(0,_)))."},
}

// TestMistakesAndNearMisses checks that each mistake is an error when rules are loaded, with file,
// line, clause and a hint. A similar text without the mistake loads.
func TestMistakesAndNearMisses(t *testing.T) {
	for _, test := range mistakeTests {
		_, err := load(test.right)
		if err != nil {
			t.Errorf("%s: the near miss does not load: %v", test.name, err)
		}
		_, err = load(test.wrong)
		l, ok := errors.AsType[invariants.LoadError](err)
		if !ok {
			t.Errorf("%s: error %v, want a LoadError", test.name, err)
			continue
		}
		if l.File != "test.pl" || l.Line < 1 || l.Clause == "" || !strings.Contains(l.Text, test.hint) {
			t.Errorf("%s: %+v, want the hint %q", test.name, l, test.hint)
		}
	}
}

func load(rules string) (*invariants.Compiled, error) {
	return invariants.NewCompiled(smallSchema(),
		[]invariants.File{{Name: "test.pl", Text: []byte(rules)}}, invariants.Options{})
}

// TestComparisonOfNoNumber checks that a comparison of something that is not a number is reported,
// whatever the order of goals and in whatever goal it occurs.
func TestComparisonOfNoNumber(t *testing.T) {
	const text = `
change(5, k(257,inode_item,0), size, null, s_ifreg).
change(5, k(257,inode_item,0), object, null, present).
object(5, k(257,inode_item,0)).
state(5, k(257,inode_item,0), size, s_ifreg).
`
	for _, goals := range [][]string{
		{"new(T, k(I,inode_item,0), size, S)", "S > 3", "query(T, k(I,inode_item,0))"},
		{"new(T, k(I,inode_item,0))", "query(T, k(I,inode_item,0), size, S)", "S > 3"},
		{"new(T, k(I,inode_item,0), size, S)", "not(S > 3)"},
		{"new(T, k(I,inode_item,0), size, S)", "not((S > 3, add(T, k(I,nothing,0))))"},
		{"new(T, k(I,inode_item,0), size, S)", "verify((S > 3, query(T, k(I,nothing,0))))"},
		{"new(T, k(I,inode_item,0), size, S)", "( S > 3 -> fail ; true )"},
		{"new(T, k(I,inode_item,0), size, S)", "( (S > 3, query(T, k(I,nothing,0))) -> fail ; true )"},
		{"new(T, k(I,inode_item,0), size, S)",
			"( S > 3, query(T, k(I,nothing,0)) ; S > 4, query(T, k(I,nothing,0)) )"},
		{"new(T, k(I,inode_item,0), size, S)", "not(((X = S ; X = 2), X > S, query(T, k(I,nothing,0))))"},
		{"new(T, k(I,inode_item,0), size, S)",
			"verify(((X = 2 ; X = S), S > X, query(T, k(I,nothing,0))))"},
		{"new(T, k(I,inode_item,0), size, S)", "count(S > 3, _)"},
		{"new(T, k(I,inode_item,0))", "sum(S, new(T, k(I,inode_item,0), size, S), _)"},
		{"new(T, k(I,inode_item,0), size, S)", "range(T, k(I,inode_item,_), 0, S)"},
		{"new(T, k(I,inode_item,0), size, S)", "_ is S + 1"},
	} {
		f := parseFacts(t, text)
		e := newBoth(t, f.Txn.Schema, "violation(1, T, I) :- "+strings.Join(goals, ", ")+".",
			invariants.Options{OpenVocabulary: true})
		if e.compiled == nil {
			t.Errorf("%v does not compile", goals)
		}
		v := e.Check(context.Background(), f.Txn, f.View)
		if v.Outcome != change.Undecided || len(v.Undecided) != 1 ||
			!strings.Contains(v.Undecided[0], "test.pl:1") ||
			!strings.Contains(v.Undecided[0], "not a number") {
			t.Errorf("%v: %v %v", goals, v.Outcome, v.Undecided)
		}
	}
}

// TestSingletons checks that a variable that occurs once in its clause, and so is likely
// misspelled, is reported.
func TestSingletons(t *testing.T) {
	found := invariants.Singletons([]invariants.File{{Name: "a.pl", Text: []byte(`
violation(1, T, I) :-
  new(T, I, size, SIZE),
  _ISE > 3, X = 'Y', T > 1. % NOT_THIS
p(A) :- q(A, _). q(B, B).
`)}})
	var got []string
	for _, f := range found {
		got = append(got, f.Error())
	}
	want := []string{"a.pl:3:19: in violation(1, T, I): SIZE occurs once in this clause; " +
		"if that is intended, write _SIZE",
		"a.pl:4:13: in violation(1, T, I): X occurs once in this clause; if that is intended, " +
			"write _X"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
