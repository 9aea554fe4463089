package verdict_test

import (
	"fmt"

	"github.com/ichiban/prolog/engine"

	"fsward/change"
	"fsward/invariants/ruleset"
	"fsward/invariants/syntax"
	"fsward/invariants/verdict"
)

// A report turns findings into a verdict.
func ExampleReport() {
	schema := &change.Schema{FS: "example",
		Kinds: []change.KindInfo{{}, {Name: "inode", Shape: change.ShapeKey}}, Fields: []string{"object"},
		Words: []string{"present"}}
	rule := "% Rule 1. An inode has a name.\nviolation(1, T, I) :- add(T, I)."
	set, err := ruleset.Load(schema, []syntax.File{{Name: "mine.pl", Text: []byte(rule)}},
		ruleset.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	txn := &change.Txn{Schema: schema, Names: change.NewNames()}
	txn.Add(change.Object{Tree: 5, ID: 257, Kind: 1})

	report := verdict.NewReport(set.Vocabulary, set.Rules, 100)
	report.Open(txn)
	id := syntax.AtomK.Apply(engine.Integer(257), engine.NewAtom("inode"), engine.Integer(0))
	report.Add(set.Rules[0], set.Rules[0].Clauses[0], engine.Integer(5), id, nil)
	v := report.Verdict()
	v.AddWitnesses(txn)
	report.Close()

	fmt.Println(v.Outcome)
	for _, x := range v.Violations {
		fmt.Println(x.Rule, x.Tree, x.ID, x.Doc)
		fmt.Println(x.Witness)
	}
	// Output:
	// violated
	// example/1 5 k(257,inode,0) An inode has a name.
	// [change(5,k(257,inode,0),object,null,present)]
}
