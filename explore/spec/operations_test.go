package spec

import (
	"testing"

	"fsward/explore"
	"fsward/explore/checkers"
)

// TestOperations checks which groups of operations a run performs, and when.
func TestOperations(t *testing.T) {
	later := len(checkers.LaterGroups())
	for _, c := range []struct {
		operations   string
		strategy     explore.Strategy
		later, first int
	}{
		{AutoOperations, explore.Cover, later, 0},
		{AutoOperations, explore.BreadthFirst, 0, 0},
		{NoOperations, explore.Cover, 0, 0},
		{"", explore.Cover, 0, 0}, // as runs of before say it
		{"held,mmap", explore.Cover, 0, 2},
		{"all", explore.Random, 0, len(checkers.Groups())},
	} {
		r := Run{Strategy: c.strategy, Operations: c.operations}
		var err error
		if r.Spec, err = FileSystem("ext4", "", "", "sync", ""); err != nil {
			t.Fatal(err)
		}
		cfg, err := r.Config()
		if err != nil {
			t.Fatal(err)
		}
		got := cfg.Stack.Checker.(*checkers.Sync).Limits
		if len(got.Later) != c.later || len(got.Groups) != c.first {
			t.Errorf("%q with %s: %+v", c.operations, c.strategy, got)
		}
		if !cfg.Inspect {
			t.Error("no recovered disk is inspected")
		}
	}
	r := Run{Operations: "auto,held"}
	r.Spec, _ = FileSystem("ext4", "", "", "sync", "")
	if _, err := r.Config(); err == nil {
		t.Error("auto among other groups is accepted")
	}
}
