package ext3

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"fsward/change"
	"fsward/interp"
	"fsward/invariants"
)

// compiled loads the rules as the daemon does, once for all tests.
var compiled = sync.OnceValues(func() (invariants.Engine, error) {
	files, err := invariants.Builtin("ext3")
	if err != nil {
		return nil, err
	}
	return invariants.NewCompiled(Schema(), files, invariants.Options{})
})

// Engine returns an engine with the built-in rules. One goroutine at a time may use it.
func Engine(t testing.TB) invariants.Engine {
	t.Helper()
	e, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Judge returns the findings of the structure checks and of the rules in an observation, one line
// for each.
func Judge(e invariants.Engine, obs interp.Observation) (found []string) {
	tell := func(v change.Violation) {
		found = append(found, fmt.Sprintf("%s %s %s: %s%s %s", v.Rule, v.Tree, v.ID, v.Doc, v.Detail,
			v.Witness))
	}
	for _, v := range obs.Violations {
		tell(v)
	}
	if obs.Unknown != nil {
		found = append(found, "undecided: "+obs.Unknown.Error())
	}
	if obs.Txn == nil {
		return found
	}
	verdict := e.Check(context.Background(), obs.Txn, obs.View)
	verdict.AddWitnesses(obs.Txn)
	for _, v := range verdict.Violations {
		tell(v)
	}
	for _, u := range verdict.Undecided {
		found = append(found, "undecided: "+u)
	}
	return found
}
