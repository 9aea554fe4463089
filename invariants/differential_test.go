package invariants_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"fsward/invariants"
	"fsward/invariants/facts"
)

// choices makes random transactions and random rules from a seed.
type choices struct{ *rand.Rand }

func pick[T any](c choices, list ...T) T { return list[c.IntN(len(list))] }

// world returns a transaction of a few objects in two trees, with the state after it. Most
// references lead to existing objects. Some values have another type than the others of their
// field.
func (c choices) world() string {
	var b strings.Builder
	id := func() int { return 256 + c.IntN(5) }
	value := func(field string) string {
		switch field {
		case "size", "nlink":
			return pick(c, "0", "1", "2", "3", "4096", "18446744073709551615", "s_ifreg")
		case "mode":
			return pick(c, "s_ifreg", "s_ifdir", "7")
		case "name":
			return pick(c, "a", "bb", "'a file'", "null_")
		default:
			return fmt.Sprintf("k(%d,%s,%d)", id(), pick(c, "inode_item", "dir_item"), pick(c, 0, 0, 0, 3))
		}
	}
	seen := map[string]bool{}
	for range 4 + c.IntN(20) {
		tree := pick(c, 5, 5, 300)
		kind := pick(c, "inode_item", "inode_item", "dir_item", "dir_index", "inode_ref", "extent_item")
		sub := pick(c, "0", "1", "2", "3", "4096")
		switch kind {
		case "inode_item":
			sub = "0"
		case "dir_item":
			sub = pick(c, sub, sub, fmt.Sprint(nameHash([]byte("a"))), fmt.Sprint(nameHash([]byte("bb"))))
		case "inode_ref":
			sub = fmt.Sprintf("a(%d,%d)", id(), c.IntN(4))
		}
		o := fmt.Sprintf("%d,k(%d,%s,%s)", tree, id(), kind, sub)
		if seen[o] {
			continue
		}
		seen[o] = true
		before, after := c.IntN(3) > 0, c.IntN(3) > 0
		side := map[bool]string{true: "present", false: "null"}
		if before || after {
			fmt.Fprintf(&b, "change(%s,object,%s,%s).\n", o, side[before], side[after])
		}
		if after {
			fmt.Fprintf(&b, "object(%s).\n", o)
		}
		for _, field := range []string{"size", "nlink", "mode", "name", "location"} {
			if c.IntN(2) == 0 {
				continue
			}
			old, new := "null", "null"
			if before {
				old = value(field)
			}
			if after {
				new = value(field)
				fmt.Fprintf(&b, "state(%s,%s,%s).\n", o, field, new)
			}
			if old != new {
				fmt.Fprintf(&b, "change(%s,%s,%s,%s).\n", o, field, old, new)
			}
		}
	}
	return b.String()
}

// recorded returns part of a commit of a real file system, with the inode numbers that random rules
// use.
func recorded(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("testdata/recorded.pl")
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer("6823", "257", "6824", "258", "6825", "259", "6826",
		"260").Replace(string(text))
}

// A tally counts the outcomes of a differential test.
type tally struct{ cases, refused, compiled, interpreted, violated, undecided int }

// differ runs one random rule over a recorded transaction and over random ones, on both engines.
func differ(t testing.TB, seed uint64, n *tally) {
	t.Helper()
	c := choices{rand.New(rand.NewPCG(seed, 1))}
	rules := c.rule(1)
	for i := range 4 {
		text := recorded(t)
		if i > 0 {
			text = c.world()
		}
		f, err := facts.Parse(text)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		n.cases++
		o := invariants.Options{OpenVocabulary: true, MaxViolations: 100000}
		files := []invariants.File{{Name: "random.pl", Text: []byte(rules)}}
		reference, err := invariants.NewReference(f.Txn.Schema, files, o)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, rules)
		}
		if seed%2 == 1 {
			o = invariants.EagerSums(o)
		}
		compiled, err := invariants.NewCompiled(f.Txn.Schema, files, o)
		if err != nil {
			if _, ok := errors.AsType[invariants.LoadError](err); !ok {
				t.Fatalf("seed %d: %v is not a LoadError", seed, err)
			}
			n.refused++
			continue
		}
		if len(compiled.Fallbacks()) > 0 {
			n.interpreted++
		} else {
			n.compiled++
		}
		want := reference.Check(context.Background(), f.Txn, f.View)
		got := compiled.Check(context.Background(), f.Txn, f.View)
		want.AddWitnesses(f.Txn)
		got.AddWitnesses(f.Txn)
		if len(want.Violations) > 0 {
			n.violated++
		}
		if len(want.Undecided) > 0 {
			n.undecided++
		}
		if d := difference(want, got); d != "" {
			t.Errorf("seed %d:\n%s\n%s\n(-reference +compiled):\n%s", seed, rules, text, d)
			return
		}
	}
}

// TestDifferential checks that the compiled engine finds what the reference engine finds, with
// random rules over random transactions. FSWARD_DIFFERENTIAL sets the number of rules.
func TestDifferential(t *testing.T) {
	rules := uint64(1500)
	if text := os.Getenv("FSWARD_DIFFERENTIAL"); text != "" {
		var err error
		if rules, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	shards := uint64(runtime.GOMAXPROCS(0))
	for shard := range shards {
		t.Run(fmt.Sprintf("%d of %d", shard+1, shards), func(t *testing.T) {
			t.Parallel()
			var n tally
			for seed := shard; seed < rules && !t.Failed(); seed += shards {
				differ(t, seed, &n)
			}
			t.Logf("%+v", n)
		})
	}
}

// FuzzDifferential is TestDifferential without an end.
func FuzzDifferential(f *testing.F) {
	for seed := range uint64(10) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		var n tally
		differ(t, seed, &n)
	})
}
