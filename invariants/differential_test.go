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

// rule returns a rule of a few goals, and perhaps a helper. Most of its goals use variables that
// have a value.
func (c choices) rule(number int) string {
	var helpers strings.Builder
	bound := []string{}
	fresh := 0
	variable := func() string {
		fresh++
		return fmt.Sprintf("V%d", fresh)
	}
	// some returns a variable that has a value, or makes one.
	some := func() string {
		if len(bound) > 0 && c.IntN(3) > 0 {
			return pick(c, bound...)
		}
		return variable()
	}
	known := func() string {
		if len(bound) > 0 {
			return pick(c, bound...)
		}
		return "257"
	}
	id := func(first string) string {
		kind := pick(c, "inode_item", "dir_item", "dir_index", "inode_ref", "extent_item", "KIND")
		sub := pick(c, "0", "_", some(), some(), "3")
		if kind == "inode_ref" {
			sub = pick(c, "_", "a(_,_)", "a("+some()+","+some()+")", some())
		}
		if kind == "KIND" {
			kind = pick(c, "_", some())
		}
		return fmt.Sprintf("k(%s,%s,%s)", first, kind, sub)
	}
	field := func() string { return pick(c, "size", "nlink", "mode", "name", "location") }
	val := func() string {
		return pick(c, some(), some(), "_", "2", "s_ifdir", "a", "null", "k("+some()+",inode_item,0)")
	}
	note := func(goal string) string {
		for i := range fresh {
			v := fmt.Sprintf("V%d", i+1)
			if strings.Contains(goal, v) && !strings.Contains(strings.Join(bound, " ")+" ", v+" ") {
				bound = append(bound, v)
			}
		}
		return goal
	}
	// aggregate returns a sum over changes, which the compiled engine may keep for all keys at
	// once.
	aggregate := func() string {
		change := fmt.Sprintf("%s(%s, %s)", pick(c, "add", "delete", "new", "old"),
			pick(c, "TREE", "_", known()), id(pick(c, known(), known(), "_")))
		if c.IntN(3) == 0 {
			change = fmt.Sprintf("default_zero(TREE, %s, %s, OLD%d, NEW%d)", id(known()),
				pick(c, "size", "nlink"), fresh, fresh)
			return fmt.Sprintf("sum(NEW%d - OLD%d, %s, %s)", fresh, fresh, change, variable())
		}
		more := pick(c, "", "", ", "+fmt.Sprintf("query(TREE, %s)", id(known())),
			", not(add(TREE, "+id(known())+"))", ", "+known()+" >= 257")
		if c.IntN(2) == 0 {
			return fmt.Sprintf("count((%s%s), %s)", change, more, variable())
		}
		return fmt.Sprintf("sum(%s, (%s%s), %s)", pick(c, "2", known()), change, more, variable())
	}
	// ordered returns a goal for objects near or between keys.
	ordered := func() string {
		switch c.IntN(4) {
		case 0:
			return fmt.Sprintf("%s(TREE, k(%s,%s,%s), %s)",
				pick(c, "previous", "next", "at_or_before", "at_or_after"), known(),
				pick(c, "inode_item", "dir_item", "extent_item"), pick(c, "0", "2", known()), id(some()))
		case 1:
			return fmt.Sprintf("%s(TREE, %s, k(%s,_,_), k(%s,%s,_))", pick(c, "range", "range_down"),
				id(some()), pick(c, "_", "256", known()),
				pick(c, "_", "258", known()), pick(c, "_", "dir_item"))
		case 2:
			return fmt.Sprintf("once(range_down(TREE, k(%s,dir_item,%s), 0, %s))", known(), variable(),
				pick(c, "2", "9999", known()))
		default:
			return fmt.Sprintf("%s(TREE, k(%s,%s,%s), %s, %s)",
				pick(c, "range", "range_down", "last_of_range", "first_of_range"), known(),
				pick(c, "inode_item", "dir_item", "inode_ref", "extent_item"), some(),
				pick(c, "0", "1", known()), pick(c, "2", "9999", known()+" + 3", known()))
		}
	}
	var goal func(depth int) string
	goal = func(depth int) string {
		n := c.IntN(20)
		if depth == 0 && n >= 12 {
			n = c.IntN(12)
		}
		switch n {
		case 0, 1:
			return note(fmt.Sprintf("%s(TREE, %s)", pick(c, "add", "delete", "update", "new", "old"),
				id(some())))
		case 2:
			return note(fmt.Sprintf("%s(TREE, %s, %s, %s)", pick(c, "new", "old"), id(some()), field(),
				val()))
		case 3:
			return note(fmt.Sprintf("change(TREE, %s, %s, %s, %s)", pick(c, id(some()), some()), field(),
				val(), val()))
		case 4:
			return note(fmt.Sprintf("default_zero(TREE, %s, %s, %s, %s)", id(some()),
				pick(c, "size", "nlink"), some(), some()))
		case 5, 6:
			return note(fmt.Sprintf("query(TREE, %s)", id(known())))
		case 7, 8:
			return note(fmt.Sprintf("query(TREE, %s, %s, %s)", id(known()), field(), val()))
		case 9:
			return fmt.Sprintf("%s %s %s", known(), pick(c, "<", ">=", "=:=", `=\=`),
				pick(c, known(), known()+" + 1", "3", known()+" * 2"))
		case 10:
			return fmt.Sprintf("%s %s %s", known(), pick(c, `\=`, "==", `\==`, "@<"),
				pick(c, known(), "2", "null", "s_ifdir"))
		case 11:
			if c.IntN(2) == 0 {
				return note(ordered())
			}
			switch c.IntN(6) {
			case 0:
				return note(fmt.Sprintf("crc32c(%s, %s)", pick(c, some(), "a", "bb"), some()))
			case 1, 2:
				v := variable()
				return note(fmt.Sprintf("(query(TREE, %s, name, %s), crc32c(%s, %s))", id(known()), v, v,
					some()))
			}
			return note(fmt.Sprintf("%s = %s", some(),
				pick(c, "2", "257", "dir_item", known(), "k("+known()+",inode_item,0)")))
		case 12, 13:
			first := goal(0)
			if c.IntN(3) == 0 {
				v := variable()
				first = fmt.Sprintf("(%s = %s ; %s = %s), %s %s %s", v, known(), v,
					pick(c, "2", "257", "dir_item"), v, pick(c, ">=", "==", "@<"), known())
			}
			return fmt.Sprintf("%s(%s)", pick(c, `\+`, "not", "verify"), "("+first+", "+goal(0)+")")
		case 14:
			return note(fmt.Sprintf("( %s ; %s )", goal(0), goal(0)))
		case 15:
			return note(fmt.Sprintf("( %s -> %s ; %s )", goal(0), goal(0), goal(0)))
		case 16:
			if c.IntN(2) == 0 {
				return note(aggregate())
			}
			inner := goal(0)
			return note(fmt.Sprintf("count(%s, %s)", inner, some()))
		case 17:
			inner := fmt.Sprintf("query(TREE, k(%s,dir_item,X%d))", known(), fresh)
			return note(fmt.Sprintf("sum(X%d, %s, %s)", fresh, inner, variable()))
		case 18:
			return note(fmt.Sprintf("%s is %s + %s", variable(), known(), pick(c, "1", known())))
		default:
			name := fmt.Sprintf("h%d_%d", number, fresh)
			// some helpers have a variable twice in their head, or inspect an argument
			for range 1 + c.IntN(3) {
				cut := pick(c, "", "", "!, ")
				fmt.Fprintf(&helpers, "%s(%s, %s) :- %s%s.\n", name, pick(c, "A", "257", "A", "k(A,KIND,B)"),
					pick(c, "B", "dir_item", "2", "A", "KIND"),
					cut, pick(c, "true", "A > 256", "true"))
			}
			v := variable() // otherwise a term could contain itself
			return note(fmt.Sprintf("%s(%s, %s)", name, pick(c, known(), known(), id(known())), v))
		}
	}
	var goals []string
	goals = append(goals, note(pick(c, "add(TREE, "+id(variable())+")", "new(TREE, "+id(variable())+
		", "+field()+", "+variable()+")",
		"delete(TREE, "+id(variable())+")", "change(TREE, "+id(variable())+", "+field()+", "+variable()+
			", "+variable()+")")))
	for range c.IntN(5) {
		goals = append(goals, goal(1))
	}
	head := "found"
	if len(bound) > 0 {
		head = "found(" + strings.Join(bound, ",") + ")"
	}
	if c.IntN(2) == 0 {
		head = fmt.Sprintf("k(%s,inode_item,0)", known())
	}
	text := fmt.Sprintf("violation(%d, TREE, %s) :- %s.\n", number, head, strings.Join(goals, ", "))
	// A clause of a helper may use a variable that only the other clause's head has.
	return text + helpers.String()
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

// The compiled engine finds what the reference engine finds, with random rules over random
// transactions. FSWARD_DIFFERENTIAL sets the number of rules.
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
