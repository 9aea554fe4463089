package ruleset_test

import (
	"fmt"

	"fsward/change"
	"fsward/invariants/ruleset"
	"fsward/invariants/syntax"
)

// Load reports a misspelled field with a suggestion.
func ExampleLoad() {
	schema := &change.Schema{FS: "example",
		Kinds:  []change.KindInfo{{}, {Name: "inode_item", Fields: []change.Field{1}}},
		Fields: []string{"object", "size"}}
	rule := "violation(1, T, I) :- new(T, I, sise, 0)."
	_, err := ruleset.Load(schema, []syntax.File{{Name: "mine.pl", Text: []byte(rule)}},
		ruleset.Options{})
	fmt.Println(err)

	rule = "% Rule 1. A new inode is not empty.\n% Source: example.\n" +
		"violation(1, T, I) :- new(T, I, size, 0)."
	set, err := ruleset.Load(schema, []syntax.File{{Name: "mine.pl", Text: []byte(rule)}},
		ruleset.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range set.Rules {
		fmt.Printf("%s: %s (%s)\n", r.Name, r.Doc, r.Source)
	}
	// Output:
	// mine.pl:1:33: in violation(1, T, I): unknown field sise in new/4; did you mean size?
	// example/1: A new inode is not empty. (mine.pl:3)
}
