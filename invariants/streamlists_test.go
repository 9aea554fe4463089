package invariants_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"fsward/invariants"
)

// TestStreamListsThatAreTooLong checks that a search among more changes than a judgment part by
// part keeps is decided if one of those that are kept ends it, and otherwise says that it is not.
func TestStreamListsThatAreTooLong(t *testing.T) {
	const entries = 17_000 // maxHeld is 16,384
	var text strings.Builder
	text.WriteString("change(5,k(257,inode_item,0),nlink,2,1).\n")
	for i := range entries {
		fmt.Fprintf(&text, "change(5,k(256,dir_index,%d),object,null,present).\n", 2+i)
	}
	f := parseFacts(t, text.String())
	for goal, decided := range map[string]bool{
		"change(_, k(_, dir_index, _), object, null, present)":                       true,
		"(change(_, k(_, dir_index, X), object, null, present), X > 1000)":           true,
		"(change(_, k(_, dir_index, X), object, null, present), X > 1000000)":        false,
		"(change(_, k(_, dir_index, X), object, null, present), X =:= 2 + 16900)":    false,
		"count(change(_, k(_, dir_index, _), object, null, present), 17000)":         true,
		"(count(change(_, k(_, dir_index, _), object, null, present), N), N > 2000)": true,
	} {
		rules := "violation(101, T, k(I, inode_item, 0)) :-\n" +
			"\tchange(T, k(I, inode_item, 0), nlink, _, 1),\n\tnot(" + goal + ").\n"
		e, err := invariants.NewCompiled(f.Txn.Schema,
			[]invariants.File{{Name: "test.pl", Text: []byte(rules)}}, invariants.Options{})
		if err != nil {
			t.Fatal(err)
		}
		v := e.CheckStream(context.Background(), &factStream{f.Txn, 1000}, f.View, 1<<20)
		if len(v.Violations) > 0 || len(v.Undecided) == 0 != decided {
			t.Errorf("%s: %d violations, undecided: %v", goal, len(v.Violations), v.Undecided)
		}
	}
}
