package syntax_test

import (
	"fmt"

	"fsward/invariants/syntax"
)

// A mistake in one clause does not hide the others.
func ExampleSplit() {
	clauses, err := syntax.Split(syntax.File{Name: "mine.pl",
		Text: []byte("helper(1).\nhelper(1.5).\nhelper(3).\n")})
	fmt.Println(len(clauses), "clauses")
	fmt.Println(err)
	// Output:
	// 2 clauses
	// mine.pl:2:9: in helper(: no floating point here: numbers are integers of any size
}

// TermText writes a term as a rule would have it.
func ExampleParseTerm() {
	term, _, _, err := syntax.ParseTerm("query", "X = k(-10, 'it\\'s', [1, 2])",
		syntax.StandardOperators())
	fmt.Println(syntax.TermText(term, nil), err)
	// Output:
	// _=k(18446744073709551606,'it\'s',[1,2]) <nil>
}
