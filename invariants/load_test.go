package invariants_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"fsward/change"
	"fsward/invariants"
)

// smallSchema is a schema as an interpreter declares it.
func smallSchema() *change.Schema {
	return &change.Schema{FS: "btrfs",
		Kinds: []change.KindInfo{{}, {Name: "inode_item", Fields: []change.Field{1, 2}},
			{Name: "inode_ref", Shape: change.ShapePair, Fields: []change.Field{3}}},
		Fields: []string{"object", "size", "f(mode,s_ifmt)", "name"},
		Words:  []string{"present", "s_ifreg"}}
}

// goodRule loads without an error.
const goodRule = "violation(1, T, ID) :- new(T, ID).\n"

// loadErrorTests are rules with a mistake, and a part of the error that reports it.
var loadErrorTests = []struct{ name, text, want string }{
	{"unknown predicate", "\n\nviolation(1, T, ID) :- new(T, ID), frobnicate(ID).",
		"test.pl:3:36: in violation(1, T, ID): unknown predicate frobnicate/1; " +
			"docs/user/rules.md has those"},
	{"wrong arity", "violation(1, T, ID) :- new(T, ID, size).",
		"unknown predicate new/3; there is new/2, new/4"},
	{"inside negation", "violation(1, T, ID) :- not(gone(T, ID)).", "unknown predicate gone/2"},
	{"inside if-then-else", "violation(1, T, ID) :- ( new(T, ID) -> true ; nope ).",
		"unknown predicate nope/0"},
	{"inside count", "violation(1, T, N) :- count(nope(T), N).", "unknown predicate nope/1"},
	{"closure", "violation(1, T, N) :- call(nope, T, N).", "unknown predicate nope/2"},
	{"halt", "violation(1, T, N) :- halt, T = N.", "unknown predicate halt/0"},
	{"open", "violation(1, T, N) :- open(T, read, N).", "unknown predicate open/3"},
	{"assert", "violation(1, T, N) :- assertz(p(T, N)).", "unknown predicate assertz/1"},
	{"consult", "violation(1, T, N) :- consult(T), N = 1.", "unknown predicate consult/1"},
	{"catch", "violation(1, T, N) :- catch(T, N, true).", "unknown predicate catch/3"},
	{"internal", "violation(1, T, N) :- '$holds'(T), N = 1.", "unknown predicate"},
	{"directive", ":- initialization(halt).", "the directive initialization(halt) is not allowed"},
	{"dynamic", ":- dynamic foo/1.", "the only directive is :- op(PRIORITY, TYPE, NAME)"},
	{"standard operator", ":- op(700, xfx, is).", "not is"},
	{"no number", "violation(N, T, ID) :- new(T, ID), N = 1.", "must be the rule's number"},
	{"arity of violation", "violation(1, T) :- new(T, _).", "violation takes three arguments"},
	{"unknown kind", "violation(1, T, I) :- add(T, k(I, inode_itme, 0)).",
		"unknown kind of object inode_itme"},
	{"unknown field", "violation(1, T, I) :- new(T, k(I, inode_item, 0), sise, 3).",
		"unknown field sise in new/4"},
	{"unknown compound field", "violation(1, T, I) :- query(T, k(I, inode_item, 0), f(mode, x), 3).",
		"unknown field f(mode,x)"},
	{"field of another kind", "violation(1, T, I) :- new(T, k(I, inode_item, 0), name, x).",
		"inode_item has no field name"},
	{"shape", "violation(1, T, I) :- add(T, k(I, inode_ref, 0)).",
		"the identifier of inode_ref has another form"},
	{"other shape", "violation(1, T, I) :- add(T, k(I, inode_item, a(1,2))).",
		"the identifier of inode_item has another form"},
	{"not an id", "violation(1, T, I) :- add(T, key(I)).", "not an identifier"},
	{"tree", "violation(1, inode, I) :- add(inode, I).", "a tree is a number"},
	{"cut in a rule", "violation(1, T, ID) :- new(T, ID), !.", "a cut in a rule"},
	{"cut in brackets", goodRule + "p(X) :- ( X = 1, ! ; true ).",
		"test.pl:2:1: in p(X): a cut inside"},
	{"redefinition", "new(T, ID) :- true.", "new/2 is built in"},
	{"redefinition of control", "(A , B) :- call(A), call(B).", "is built in"},
	{"number as a goal", "violation(1, T, ID) :- new(T, ID), 3.", "3 is not a goal"},
	{"number as a head", "3 :- true.", "must be a predicate"},
	{"no full stop", goodRule + "p(X) :- q(X)\n",
		"test.pl:2:13: in p(X): the clause has no full stop"},
	{"open quote", "p('abc) :- true.\n" + goodRule, "does not end on its line"},
	{"open comment", goodRule + "/* never\n\n", "test.pl:2:1: a comment /* does not end"},
	{"syntax", "violation(1, T, ID) :- new(T ID).\n" + goodRule,
		"test.pl:1:30: in violation(1, T, ID): expected ) before ID; is a comma or an operator missing"},
	{"no comma", "violation(1, T, ID) :- new(T, ID)\n  ID = 1.",
		"test.pl:2:3: in violation(1, T, ID): unexpected ID; " +
			"is a comma or an operator missing before it?"},
	{"two operators", "violation(1, T, ID) :- new(T, ID), 1 < 2 < 3.", "unexpected <"},
	{"brackets", "violation(1, T, ID) :- new(T, ID.\n" + goodRule,
		"test.pl:1:31: in violation(1, T, ID):"},
	{"float", "p(1.5).", "no floating point"},
	{"string", `p("x").`, "single quotes"},
	{"number", "p(0xzz).", "not a number"},
	{"nesting", "p(" + strings.Repeat("(", 1000) + ").", "too deeply nested"},
	{"long clause", "p([" + strings.Repeat("a,", 30000) + "a]).", "too long"},
	{"letters", "p(é).", "unexpected character 'é'"},
}

// TestLoadErrors checks that each mistake is found when the rules are loaded, with the line and the
// head of its clause.
func TestLoadErrors(t *testing.T) {
	for _, test := range loadErrorTests {
		t.Run(test.name, func(t *testing.T) {
			_, err := invariants.NewReference(smallSchema(),
				[]invariants.File{{Name: "test.pl", Text: []byte(test.text)}}, invariants.Options{})
			if err == nil {
				t.Fatal("loaded without an error")
			}
			if !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "test.pl:") {
				t.Errorf("error %q, want %q", err, test.want)
			}
		})
	}
	if _, err := invariants.NewReference(smallSchema(),
		[]invariants.File{{Name: "test.pl", Text: []byte(goodRule)}}, invariants.Options{}); err != nil {
		t.Errorf("the good rule does not load: %v", err)
	}
}

// TestAllErrorsAtOnce checks that all mistakes of a set are reported at once, also those after a
// syntax error. Two files cannot both define a rule or a helper.
func TestAllErrorsAtOnce(t *testing.T) {
	files := []invariants.File{
		{Name: "a.pl", Text: []byte(
			"violation(1, T, ID) :- new(T ID).\nviolation(2, T, ID) :- nope(T, ID).\nhelper(1).\n" +
				"violation(3, 1, 1) :- true.\n")},
		{Name: "b.pl", Text: []byte("helper(2).\nviolation(3, 2, 2) :- true.\n")},
	}
	_, err := invariants.NewReference(smallSchema(), files, invariants.Options{})
	if err == nil {
		t.Fatal("loaded without an error")
	}
	for _, want := range []string{"a.pl:1:30: ", "a.pl:2:24: ",
		"b.pl:1:1: in helper(2): helper/1 is already defined at a.pl:3",
		"b.pl:2:1: in violation(3, 2, 2): rule 3 is already at a.pl:4"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in:\n%v", want, err)
		}
	}
}

// TestClauseSplitting checks that text is cut into clauses in the right places.
func TestClauseSplitting(t *testing.T) {
	rules := `
/* a block comment. with full stops. */
p('a. b'). p('it''s'). p('\'. '). % p(no).
p(0'.). p(0'''). p(0' ). p(0x10). p(0b11). p(0o17).
p([]). p('\x41\\x42\'). p(a.b) :- fail.
p(18446744073709551615). p(-9223372036854775809).
p(X) :- X = 'x:-y' ; X = '%'.
:- op(700, xfx, differs_from).
q(X) :- X differs_from 1.
A differs_from B :- A \= B.
violation(1, 5, found(X)) :- p(X).
violation(2, 5, found(1)) :- q(2).
violation(3, 5, found(1)) :- q(1).`
	rules = strings.Replace(rules, "p(a.b) :- fail.", "", 1)
	v := checkWorld(t, rules, invariants.Options{})
	got := strings.Join(lines(v.Violations), " ")
	for _, want := range []string{"found('a. b')", `found('it\'s')`, `found('\'. ')`, "found(46)",
		"found(39)", "found(32)", "found(16)",
		"found(3)", "found(15)", "found([])", "found('AB')", "found(18446744073709551615)",
		"found(-9223372036854775809)", "found('x:-y')", "found('%')",
		"2\t5\tfound(1)"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	if len(v.Violations) != 16 || len(v.Undecided) > 0 {
		t.Errorf("%d violations, want 16: %s %v", len(v.Violations), got, v.Undecided)
	}
}

// TestBuiltin checks that the rules that come with fsward can be parsed. Other tests, beside the
// schemas, check that they fit the schemas.
func TestBuiltin(t *testing.T) {
	for _, fs := range []string{"btrfs", "ext3"} {
		files, err := invariants.Builtin(fs)
		if err != nil {
			t.Fatal(err)
		}
		if len(files) == 0 {
			t.Errorf("no rules for %s", fs)
		}
		for _, f := range files {
			if !strings.HasPrefix(f.Name, "invariants/"+fs+"/") || !strings.HasSuffix(f.Name, ".pl") ||
				len(f.Text) == 0 {
				t.Errorf("file %q with %d bytes", f.Name, len(f.Text))
			}
		}
	}
	if _, err := invariants.Builtin("../btrfs"); err == nil {
		t.Error("a name outside the folder was accepted")
	}
	if files, err := invariants.ReadDir(t.TempDir()); err != nil || len(files) > 0 {
		t.Errorf("a folder without rules has %v, %v", files, err)
	}
}

// FuzzLoad checks that any text gives an engine or an error, in bounded time, and that rules that
// load can run.
func FuzzLoad(f *testing.F) {
	thesis, err := os.ReadFile("testdata/thesis.pl")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(thesis))
	for _, s := range []string{"a.", "a :- b, c ; d -> e.", "p('\\x41\\').",
		"p(0'a, -1, 0xff, [a|B]).", "- - - - 1.", "\\ \\ \\ a.", "p :- {a}.",
		"/* */ % x\n p.", ":- op(200, xfy, ^^).\na ^^ b.", "violation(1,5,X) :- p(X).\np(f(X)) :- p(X).",
		"'a'(b).", "a(.", "[a|b].", "()", "-(1).", "- 1 - -1.",
		"x :- y. z", "a(0+0*a,(0* -a*[0*0..", "p:-q.%", "p(A,A):-A=f(A).", "a=b=c.", "1 = 2.", "!.",
		"a;b.", "{}.", "[].", "p(-(-(1)))."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		start := time.Now()
		e, err := invariants.NewReference(smallSchema(),
			[]invariants.File{{Name: "fuzz.pl", Text: []byte(text)}},
			invariants.Options{Steps: 1000, StepsPerRecord: 1, MaxDepth: 100})
		if err == nil {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			txn := &change.Txn{Schema: smallSchema(), Names: change.NewNames()}
			txn.Add(change.Object{Tree: 5, ID: 257, Kind: 1})
			e.Check(ctx, txn, failingView{})
			cancel()
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Fatalf("took %v", took)
		}
	})
}
