package mutants

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"fsward/interp/detect"
	"fsward/invariants"
	"fsward/invariants/facts"
)

var (
	worldSeed  = flag.Uint64("seed", 1, "worlds follow from this `number`")
	worldCount = flag.Int("worlds", 20, "worlds of each unit test")
)

// A world is what a transaction begins and ends with. It is made from a unit test and altered: what
// changed follows from the two states, so that records and queries never contradict each other, as
// no file system could make them do.
type world struct {
	old, new map[string]fields // by object, as facts write it: tree and identifier
	kept     []string          // records of what did not change, which ext3 has some of
}

// fields are the values of an object, with their text. The field object is there for an object that
// exists.
type fields map[string]string

var fact = regexp.MustCompile(`^(change|object|state)\((.*)\)\.$`)

// readWorld takes the facts of a unit test. That objects are neighbours follows from their order.
func readWorld(text string) world {
	w := world{make(map[string]fields), make(map[string]fields), nil}
	set := func(side map[string]fields, object, field, value string) {
		if side[object] == nil {
			side[object] = make(fields)
		}
		side[object][field] = value
	}
	changed := make(map[[2]string]bool)
	var changes [][]string
	for line := range strings.Lines(text) {
		m := fact.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		var args []string
		for _, s := range split(m[2], span{0, len(m[2])}, ",") {
			args = append(args, m[2][s.from:s.to])
		}
		object := args[0] + "," + args[1]
		switch {
		case m[1] == "object":
			set(w.new, object, "object", "present")
		case m[1] == "state":
			set(w.new, object, args[2], args[3])
		case args[2] != "object" && args[3] == args[4]:
			w.kept = append(w.kept, line)
		default:
			changes = append(changes, args)
		}
	}
	for _, c := range changes {
		object := c[0] + "," + c[1]
		changed[[2]string{object, c[2]}] = true
		if c[3] != "null" {
			set(w.old, object, c[2], c[3])
		}
		if c[4] != "null" {
			set(w.new, object, c[2], c[4])
		}
	}
	for object, fs := range w.new {
		for f, v := range fs {
			if !changed[[2]string{object, f}] && !changed[[2]string{object, "object"}] {
				set(w.old, object, f, v)
			} else if !changed[[2]string{object, f}] && w.old[object]["object"] != "" {
				set(w.old, object, f, v)
			}
		}
	}
	return w
}

// text writes the world as the facts of a unit test.
func (w world) text() string {
	var b strings.Builder
	for _, line := range w.kept {
		object := line[len("change("):strings.LastIndex(line[:strings.LastIndex(
			line[:strings.LastIndex(line, ",")], ",")], ",")]
		if w.old[object] != nil && w.new[object] != nil {
			b.WriteString(line)
		}
	}
	objects := slices.Sorted(maps.Keys(w.new))
	for o := range w.old {
		if w.new[o] == nil {
			objects = append(objects, o)
		}
	}
	slices.Sort(objects)
	for _, o := range objects {
		before, after := w.old[o], w.new[o]
		if after["object"] != "" {
			fmt.Fprintf(&b, "object(%s).\n", o)
		}
		for _, f := range slices.Sorted(maps.Keys(after)) {
			if f != "object" {
				fmt.Fprintf(&b, "state(%s,%s,%s).\n", o, f, after[f])
			}
		}
		if strings.HasPrefix(o, "-1,") || maps.Equal(before, after) {
			continue // what is derived of the state has no records
		}
		fmt.Fprintf(&b, "change(%s,object,%s,%s).\n", o, orNull(before["object"]),
			orNull(after["object"]))
		all := maps.Clone(before)
		if all == nil {
			all = make(fields)
		}
		maps.Copy(all, after)
		for _, f := range slices.Sorted(maps.Keys(all)) {
			if f != "object" && before[f] != after[f] {
				fmt.Fprintf(&b, "change(%s,%s,%s,%s).\n", o, f, orNull(before[f]), orNull(after[f]))
			}
		}
	}
	return b.String() + "expect_none.\n"
}

func orNull(value string) string {
	if value == "" {
		return "null"
	}
	return value
}

var number64 = regexp.MustCompile(`\b[0-9]+\b`)

// alter changes one thing on one side, so that the structure could be sound still: numbers that are
// whole sectors stay so, and none becomes 0; the hash of a file extent's back reference stays that
// of where it is, and that of an entry that of its name; a link belongs to a name and to what it
// leads to; words of features are others' alone.
func (w world) alter(r *rand.Rand) {
	sides := []map[string]fields{w.old, w.new}
	if r.IntN(2) == 0 {
		slices.Reverse(sides)
	}
	side, other := sides[0], sides[1]
	objects := slices.Sorted(maps.Keys(side))
	if len(objects) == 0 {
		return
	}
	o := objects[r.IntN(len(objects))]
	switch r.IntN(5) {
	case 0: // it is not there
		delete(side, o)
	case 1: // it did not change
		other[o] = maps.Clone(side[o])
	case 2: // it stands elsewhere, or there are two
		at := number64.FindAllStringIndex(o, -1)
		if len(at) == 0 || strings.Contains(o, ",extent_data_ref,") || side[o]["backref"] != "" {
			return
		}
		n := r.IntN(len(at))
		if strings.Contains(o, ",dir_item,") && n == len(at)-1 || strings.Contains(o, "ref,a(") &&
			n == 1 {
			return
		}
		place := at[n]
		number := o[place[0]:place[1]]
		sectors := strings.Contains(o, ",extent_data,") && place[1] == len(o)-1
		if number == "0" && !sectors {
			return // in a key, that is what all of its kind have
		}
		moved := o[:place[0]] + near(r, number, sectors) + o[place[1]:]
		side[moved] = maps.Clone(side[o])
		if r.IntN(2) == 0 {
			delete(side, o)
		}
	default: // a field of it has another value, or that of another object
		names := slices.Sorted(maps.Keys(side[o]))
		f := names[r.IntN(len(names))]
		if f == "backref" || strings.Contains(o, ",extent_data_ref,") && f != "count" {
			return
		}
		if f == "name" || f == "location" || f == "link" {
			if strings.Contains(o, ",dir_index,") {
				p := objects[r.IntN(len(objects))]
				for _, f := range []string{"name", "location", "link"} {
					if v := side[p][f]; v != "" && side[p]["location"] != "" {
						side[o][f] = v
					}
				}
			}
			return
		}
		var values []string
		for _, s := range sides {
			for _, p := range slices.Sorted(maps.Keys(s)) {
				if v := s[p][f]; v != "" && v != side[o][f] {
					values = append(values, v)
				}
			}
		}
		switch v := side[o][f]; {
		case f == "object":
		case len(values) > 0 && r.IntN(3) > 0:
			side[o][f] = values[r.IntN(len(values))]
		case number64.FindString(v) == v && !strings.HasPrefix(f, "feature"):
			side[o][f] = near(r, v, sectorFields.MatchString(f))
		}
	}
}

var sectorFields = regexp.MustCompile(`^(disk_bytenr|disk_num_bytes|num_bytes|extent_offset|end)$`)

// near is a number beside another one: by a sector or several if it is of whole sectors.
func near(r *rand.Rand, text string, sectors bool) string {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return text
	}
	step := uint64(1)
	if sectors || n != 0 && n%4096 == 0 {
		step = 4096 << r.IntN(3)
	}
	if r.IntN(2) == 0 && n > step {
		return strconv.FormatUint(n-step, 10)
	}
	return strconv.FormatUint(n+step, 10)
}

// A mutant that is listed means the same: where it is asked about a transaction that a unit test
// does not have, it says what the rule says.
func TestListedMeanTheSame(t *testing.T) {
	for _, fs := range []string{"btrfs", "ext3"} {
		files, err := invariants.Builtin(fs)
		if err != nil {
			t.Fatal(err)
		}
		reasons, err := Reasons("testdata/" + fs + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		listed := slices.DeleteFunc(Mutants(files),
			func(m *Mutant) bool { return reasons[m.String()] == "" })
		subjects := worlds(t, fs, rand.New(rand.NewPCG(*worldSeed, 0)), listed)
		ctx := context.Background()
		known, err := Learn(ctx, detect.Schema(fs), files, subjects)
		if err != nil {
			t.Fatal(err)
		}
		violated := 0
		for _, s := range known {
			if len(s.want) > 0 {
				violated++
			}
		}
		for _, m := range listed {
			by, err := notice(ctx, detect.Schema(fs), m, known)
			if err != nil || by != "" {
				t.Errorf("%s: listed, and means something else: %s (%v)\n%s\n%s", fs, m, err, by, textOf[by])
			}
		}
		t.Logf("%s: %d mutants in %d worlds, %d of them with violations", fs, len(listed), len(known),
			violated)
	}
}

// textOf is the text of each world, by its name.
var textOf = make(map[string]string)

// worlds alters the unit tests of the rules that mutants are of.
func worlds(t *testing.T, fs string, r *rand.Rand, of []*Mutant) []*Subject {
	t.Helper()
	rules := make(map[string]bool)
	for _, m := range of {
		for _, rule := range m.rules {
			rules[rule] = true
		}
	}
	paths, err := filepath.Glob("../../invariants/testdata/cases/" + fs + "/*" + caseSuffix)
	if err != nil || len(paths) == 0 {
		t.Fatal(err)
	}
	var out []*Subject
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		c, err := facts.ParseCase(detect.Schema(fs), string(text))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(c.Rules, func(rule string) bool { return rules[rule] }) {
			continue
		}
		for n := range *worldCount {
			w := readWorld(string(text))
			for range n % 4 {
				w.alter(r)
			}
			altered, err := facts.ParseCase(detect.Schema(fs), w.text())
			if err != nil {
				t.Fatalf("%s: %v\n%s", path, err, w.text())
			}
			name := fmt.Sprintf("%s world %d", filepath.Base(path), n)
			textOf[name] = w.text()
			out = append(out, &Subject{Name: name, Txn: altered.Txn, View: altered.View, rules: c.Rules})
		}
	}
	return out
}
