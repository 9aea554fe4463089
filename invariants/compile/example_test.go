package compile_test

import (
	"fmt"

	"fsward/change"
	"fsward/invariants/compile"
	"fsward/invariants/ruleset"
	"fsward/invariants/syntax"
)

// Explain shows the steps of a rule, and how the cost of each grows.
func ExampleEngine_Explain() {
	schema := &change.Schema{FS: "example",
		Kinds: []change.KindInfo{{}, {Name: "inode_item", Fields: []change.Field{1}, Unique: true},
			{Name: "inode_ref", Shape: change.ShapePair}},
		Fields: []string{"object", "size"}, Words: []string{"present"}}
	rule := `
violation(1, TREE, k(I,inode_item,0)) :-
  change(TREE, k(I,inode_item,0), object, null, present),
  not(query(TREE, k(I,inode_ref,_))).
`
	engine, err := compile.New(schema, []syntax.File{{Name: "mine.pl", Text: []byte(rule)}},
		ruleset.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	plans, err := engine.Explain("1")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, step := range plans[0].Steps {
		fmt.Printf("%d %s: %s, %s\n", step.Depth, step.Goal, step.Access, step.Class)
	}
	// Output:
	// 0 change(TREE,k(I,inode_item,0),object,null,present): all changes of one kind or field, tree
	// 0 \+(query(TREE,k(I,inode_ref,_))): negation, log n
	// 1 query(TREE,k(I,inode_ref,_)): the first of a range of keys, log n
}
