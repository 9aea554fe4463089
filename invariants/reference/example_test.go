package reference_test

import (
	"context"
	"fmt"

	"fsward/invariants/facts"
	"fsward/invariants/reference"
	"fsward/invariants/ruleset"
	"fsward/invariants/syntax"
)

// A session answers a goal over a transaction, with the helpers of the rules.
func ExampleQuerySession_Ask() {
	f, err := facts.Parse(`
change(5, k(257,inode_item,0), size, 0, 4096).
change(5, k(258,inode_item,0), size, 0, 100).
`)
	if err != nil {
		fmt.Println(err)
		return
	}
	rules := []syntax.File{{Name: "mine.pl",
		Text: []byte("grew(I, BY) :- change(_, k(I,_,_), size, OLD, NEW), BY is NEW - OLD.")}}
	session, err := reference.NewQuerySession(f.Txn.Schema, rules,
		ruleset.Options{OpenVocabulary: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	answers, err := session.Ask(context.Background(), f.Txn, f.View, "grew(INODE, BY), BY > 1000", 10)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answers.Variables)
	for _, row := range answers.Rows {
		fmt.Println(row[0].Text, row[1].Text)
	}
	// Output:
	// [INODE BY]
	// 257 4096
}
