package invariants_test

import (
	"fmt"
	"strings"
	"testing"
)

// repeated joins n copies of a text, each with its number.
func repeated(n int, format string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(format, "$", fmt.Sprint(i)))
	}
	return b.String()
}

// TestLargeRules checks that large rule files load, or say what is wrong with them, in time that
// does not grow with the square of their size.
func TestLargeRules(t *testing.T) {
	const start = "violation(1, T, k(I,inode_item,0)) :- new(T, k(I,inode_item,0), size, S), "
	for _, test := range []struct{ name, text, want string }{
		{"clauses of a rule", repeated(20_000, start+"S > $.\n"), ""},
		{"elements of a list", start + "member(S, [" + repeated(9_000, "$,") + "7]).", ""},
		{"conjunctions in a conjunction", start + "count(" + strings.Repeat("(", 150) +
			"query(T, k(I,inode_item,0), size, N)" + repeated(150, ", N > $)") + ", C), C > 1.", ""},
		{"negations in a negation", start + strings.Repeat(`\+ `, 19_000) + "S > 1.",
			"too long or too deeply nested"},
		{"unknown names among many", repeated(20_000, "accounted_size_$(X) :- X > $.\n") +
			repeated(20_000, start+"acounted_sise_$(S).\n"), "and more"},
		{"an unknown name of 200,000 letters", strings.Repeat("a", 200_000) + "(X) :- X > 1.\n" +
			start + strings.Repeat("a", 199_999) + "(S).", "unknown predicate"},
	} {
		_, err := load(test.text)
		if test.want == "" && err != nil || test.want != "" && err == nil {
			t.Errorf("%s: %.200v, want %q", test.name, err, test.want)
		} else if err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %.200v, want %q", test.name, err, test.want)
		}
	}
}
