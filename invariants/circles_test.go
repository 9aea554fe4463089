package invariants_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"fsward/invariants"
)

// chain returns facts about n directories from 11 on, each in the one with the next number. The
// last one is in the directory top. Those that moved lists had another parent before.
func chain(n, top int, moved ...int) string {
	var b strings.Builder
	b.WriteString("object(dirent,a(2,'..')).\nstate(dirent,a(2,'..'),inode,2).\n")
	for d := 11; d < 11+n; d++ {
		parent := d + 1
		if d == 10+n {
			parent = top
		}
		fmt.Fprintf(&b, "object(dirent,a(%d,'..')).\nstate(dirent,a(%d,'..'),inode,%d).\n", d, d, parent)
		if slices.Contains(moved, d) {
			fmt.Fprintf(&b, "change(dirent,a(%d,'..'),inode,3,%d).\n", d, parent)
		}
	}
	return b.String()
}

// TestCircles checks that rule 20 of ext3 finds circles of any length, and allows trees of any
// depth.
func TestCircles(t *testing.T) {
	files, err := invariants.Builtin("ext3")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, text, want string
		compiledOnly     bool // too much for the reference engine
	}{
		{"a deep tree", chain(2000, 2, 11, 1000), "", false},
		{"a very deep tree", chain(40_000, 2, 11, 20_000, 40_010), "", true},
		{"a circle", chain(2000, 11, 1000), "a(1000,'..')", false},
		{"a chain below a circle", chain(2000, 1500, 300, 1700), "a(1700,'..')", false},
		{"a circle whose length is a power of two", chain(1024, 11, 50), "a(50,'..')", false},
		{"a long circle", chain(40_000, 11, 1000), "a(1000,'..')", true},
	} {
		f := parseFacts(t, test.text)
		engines := []func() (invariants.Engine, error){func() (invariants.Engine, error) {
			return invariants.NewCompiled(f.Txn.Schema, files, invariants.Options{OpenVocabulary: true})
		}, func() (invariants.Engine, error) {
			return invariants.NewReference(f.Txn.Schema, files, invariants.Options{OpenVocabulary: true})
		}}
		if test.compiledOnly {
			engines = engines[:1]
		}
		for i, engine := range engines {
			e, err := engine()
			if err != nil {
				t.Fatal(err)
			}
			v := e.Check(context.Background(), f.Txn, f.View)
			var got []string
			for _, x := range v.Violations {
				if x.Rule == "ext3/20" {
					got = append(got, x.ID)
				}
			}
			for _, u := range v.Undecided {
				if strings.Contains(u, "ext3/20") {
					got = append(got, u)
				}
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("%s, engine %d: %q, want %q", test.name, i, got, test.want)
			}
		}
	}
}
