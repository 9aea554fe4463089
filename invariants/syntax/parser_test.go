package syntax

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ichiban/prolog/engine"
)

// canonical writes a term without operators, with variables numbered in their order.
func canonical(t engine.Term, seen map[engine.Variable]int) string {
	switch t := t.(type) {
	case engine.Variable:
		if _, ok := seen[t]; !ok {
			seen[t] = len(seen)
		}
		return fmt.Sprintf("_%d", seen[t])
	case engine.Compound:
		var args []string
		for i := range t.Arity() {
			args = append(args, canonical(t.Arg(i), seen))
		}
		return fmt.Sprintf("%q(%s)", t.Functor().String(), strings.Join(args, ", "))
	case engine.Atom:
		return fmt.Sprintf("%q", t.String())
	default:
		return fmt.Sprint(t)
	}
}

// libraryParse parses a text by the library, with the standard operators.
func libraryParse(t *testing.T, text string) (engine.Term, error) {
	t.Helper()
	vm := new(engine.VM)
	ops := StandardOperators()
	define := func(name string, o operator, kind string) {
		if _, err := engine.Op(vm, engine.Integer(o.Priority), engine.NewAtom(kind), engine.NewAtom(name),
			engine.Success, nil).Force(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	for name, o := range ops.prefix {
		define(name, o, map[bool]string{true: "fy", false: "fx"}[o.Right == o.Priority])
	}
	for name, o := range ops.Infix {
		kind := "xfx"
		switch o.Priority {
		case o.Left:
			kind = "yfx"
		case o.Right:
			kind = "xfy"
		}
		define(name, o, kind)
	}
	return engine.NewParser(vm, strings.NewReader(text)).Term()
}

var negativeID = regexp.MustCompile(`"k"\(-\d+`)

// filesToParse returns all rules that fsward comes with, and clauses with what they do not have.
func filesToParse(t *testing.T) []File {
	t.Helper()
	var files []File
	for _, name := range []string{"../testdata/thesis.pl", "../ruleset/prelude.pl"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, File{Name: name, Text: text})
	}
	for _, fs := range []string{"btrfs", "ext3"} {
		more, err := ReadDir("../" + fs)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, more...)
	}
	for _, s := range []string{
		"a :- b, c ; d -> e ; f.", "p(X) :- X is 1 + 2 * 3 - 4 // 5 - - 6.",
		"p(X) :- X is - (1) + -1 - 1.", "p :- \\+ a, \\+ (b, c).",
		"p(X) :- X = [a, b|T], T = [], X \\= [].", "p(-, +, [-], - a, -(1), -(-(1))).",
		"p(A, B) :- A =:= B /\\ 3 \\/ 4 xor 5 << 1, A \\== B.",
		"a(1 - 2 - 3, (a , b), (a :- b)).", "p(k(-1, x, 2)) :- q.",
		"p(X) :- ( X = 1 -> true ; X = 2 -> fail ; true ).", "p(0'a, 0x1F, 0b101, 0o17).",
		"p('a b', 'it''s', 'x\\\\y').", "p(\\ 1, \\ (1 + 2), 2 * -3).",
	} {
		files = append(files, File{Name: s, Text: []byte(s)})
	}
	return files
}

// TestParserAgainstLibrary checks that our parser and the library's read the same term from every
// clause of the thesis, of the rules that come with fsward, and of some examples that are hard to
// read.
func TestParserAgainstLibrary(t *testing.T) {
	clauses := 0
	for _, f := range filesToParse(t) {
		texts, err := Split(f)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(f.Text), "\n")
		for i, c := range texts {
			last := len(lines)
			if i+1 < len(texts) {
				last = texts[i+1].Line - 1
			}
			if last < c.Line {
				continue // two clauses on one line
			}
			if slices.ContainsFunc(c.tokens, func(t token) bool {
				return t.num != nil && !t.num.IsInt64()
			}) {
				continue // the library has no such numbers
			}
			clauses++
			mustParseAlike(t, f.Name, c, strings.Join(lines[c.Line-1:last], "\n"))
		}
	}
	if clauses < 30 {
		t.Errorf("only %d clauses compared", clauses)
	}
}

// mustParseAlike parses a clause with our parser and its text with the library's.
func mustParseAlike(t *testing.T, file string, c ClauseText, text string) {
	t.Helper()
	want, err := libraryParse(t, text)
	if err != nil {
		t.Errorf("%s:%d: the library's parser: %v", file, c.Line, err)
		return
	}
	got, err := parse(c, StandardOperators())
	if err != nil {
		t.Error(err)
		return
	}
	g := canonical(got, map[engine.Variable]int{})
	// Our parser makes negative object ids unsigned.
	w := negativeID.ReplaceAllStringFunc(canonical(want, map[engine.Variable]int{}),
		func(s string) string {
			n, err := strconv.ParseInt(strings.TrimPrefix(s, `"k"(`), 10, 64)
			if err != nil {
				t.Error(err)
			}
			return `"k"(` + strconv.FormatUint(uint64(n), 10)
		})
	if g != w {
		t.Errorf("%s:%d:\nours     %s\nlibrary's %s", file, c.Line, g, w)
	}
}
