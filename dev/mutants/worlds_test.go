package mutants

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"maps"
	"math"
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
	worldSeed  = flag.Uint64("seed", 1, "`number` that determines the worlds")
	worldCount = flag.Int("worlds", 20, "`number` of worlds for each unit test")
)

// A world is a pair of states: before and after a transaction. It is an altered unit test. Its
// change records are the difference of the two states, so that records and queries agree, as they
// do on a real file system.
type world struct {
	old, new map[string]fields // by object: "tree,identifier" as in facts
	kept     []string          // records of unchanged fields; ext3 has some
}

// fields are the values of an object as text. An existing object has the field "object".
type fields map[string]string

var fact = regexp.MustCompile(`^(change|object|state)\((.*)\)\.$`)

// readWorld reads the facts of a unit test, one a line. It skips other lines.
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
			continue // derived objects (tree -1) have no records
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

// alter changes one object of one state, and keeps the world within what the structure checks
// guarantee. Multiples of the sector size stay such multiples, and no number becomes 0. The hashes
// of back references and of directory entries stay right. The fields name, location and link change
// together. Feature words change only to values of other objects.
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
	case 0:
		delete(side, o)
	case 1: // the object did not change
		other[o] = maps.Clone(side[o])
	case 2:
		moveObject(r, side, o)
	default:
		alterField(r, sides, o, objects)
	}
}

// moveObject gives an object of a state another number in its identifier, or adds a copy with that
// number.
func moveObject(r *rand.Rand, side map[string]fields, o string) {
	at := number64.FindAllStringIndex(o, -1)
	if len(at) == 0 || strings.Contains(o, ",extent_data_ref,") || side[o]["backref"] != "" {
		return
	}
	n := r.IntN(len(at))
	if strings.Contains(o, ",dir_item,") && n == len(at)-1 ||
		strings.Contains(o, "ref,a(") && n == 1 {
		return
	}
	place := at[n]
	number := o[place[0]:place[1]]
	sectors := strings.Contains(o, ",extent_data,") && place[1] == len(o)-1
	if number == "0" && !sectors {
		return // all keys of this kind have the 0
	}
	moved := o[:place[0]] + near(r, number, sectors) + o[place[1]:]
	side[moved] = maps.Clone(side[o])
	if r.IntN(2) == 0 {
		delete(side, o)
	}
}

// alterField gives a field of an object of the first state another value: a near number, or the
// value of another object. objects are the objects of the first state.
func alterField(r *rand.Rand, sides []map[string]fields, o string, objects []string) {
	side := sides[0]
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

var sectorFields = regexp.MustCompile(`^(disk_bytenr|disk_num_bytes|num_bytes|extent_offset|end)$`)

// near returns a number that differs from the number in text by 1. It differs by one, two or four
// sectors of 4096 bytes if sectors is set or if the number is a multiple of a sector.
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

// TestListedMeanTheSame checks that each listed mutant is equivalent to its rule: both give the
// same verdict about transactions that are not in a unit test.
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
				t.Errorf("%s: the listed mutant %s is not equivalent to its rule (%v)\n%s\n%s",
					fs, m, err, by, worldText[by])
			}
		}
		t.Logf("%s: %d mutants in %d worlds; %d worlds have violations", fs, len(listed), len(known),
			violated)
	}
}

// worldText has the text of each world by its name.
var worldText = make(map[string]string)

var (
	extentKey = regexp.MustCompile(`^2,k\(([0-9]+),(?:extent_item,([0-9]+)|metadata_item,.*)\)$`)
	groupKey  = regexp.MustCompile(`^2,k\(([0-9]+),block_group_item,`)
)

// crossesGroup reports whether an extent of a state lies on both sides of the beginning of a block
// group. Rule 49 refuses such a state, and other rules may rely on that.
func crossesGroup(side map[string]fields) bool {
	for o := range side {
		extent := extentKey.FindStringSubmatch(o)
		if extent == nil {
			continue
		}
		start, size := unsigned(extent[1]), unsigned(cmp.Or(extent[2], maxNodeSize))
		for p := range side {
			if group := groupKey.FindStringSubmatch(p); group != nil &&
				unsigned(group[1]) > start && unsigned(group[1])-start < size {
				return true
			}
		}
	}
	return false
}

const maxNodeSize = "65536" // BTRFS_MAX_METADATA_BLOCKSIZE

// unsigned returns the number in text, or the largest one if it has none of 64 bits.
func unsigned(text string) uint64 {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return math.MaxUint64
	}
	return n
}

// worlds returns up to worldCount altered copies of each unit test of the mutants' rules.
func worlds(t *testing.T, fs string, r *rand.Rand, mutants []*Mutant) []*Subject {
	t.Helper()
	rules := make(map[string]bool)
	for _, m := range mutants {
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
			if crossesGroup(w.old) || crossesGroup(w.new) {
				continue
			}
			altered, err := facts.ParseCase(detect.Schema(fs), w.text())
			if err != nil {
				t.Fatalf("%s: %v\n%s", path, err, w.text())
			}
			name := fmt.Sprintf("%s world %d", filepath.Base(path), n)
			worldText[name] = w.text()
			out = append(out, &Subject{Name: name, Txn: altered.Txn, View: altered.View, rules: c.Rules})
		}
	}
	return out
}
