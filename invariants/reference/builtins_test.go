package reference

import (
	"testing"

	"fsward/change"
	"fsward/invariants/ruleset"
	"fsward/invariants/syntax"
)

// TestBuiltinsHaveFunctions checks that every predicate in the table of builtins has a function,
// and every function is in the table.
func TestBuiltinsHaveFunctions(t *testing.T) {
	set, err := ruleset.Load(&change.Schema{}, nil, ruleset.Options{OpenVocabulary: true})
	if err != nil {
		t.Fatal(err)
	}
	functions := map[syntax.Indicator]bool{}
	for _, b := range newInterpreter(set.Vocabulary).builtins() {
		functions[b.Indicator] = true
		if _, ok := ruleset.Builtins[b.Indicator]; !ok {
			t.Errorf("%s has a function, but is not in ruleset.Builtins", b.Indicator)
		}
	}
	for p := range ruleset.Builtins {
		if !functions[p] {
			t.Errorf("%s is in ruleset.Builtins, but has no function", p)
		}
	}
}
