package b3

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// load returns a set that fsward has.
func load(t *testing.T, name string) *Set {
	t.Helper()
	s, err := Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The counts are those of the public generator, as the rules give them; that of subvolumes is our
// own.
func TestCounts(t *testing.T) {
	for _, want := range []struct {
		name            string
		count, distinct uint64
	}{
		{"seq-1", 328, 316},
		{"seq-2", 254_032, 223_384},
		{"seq-3-data", 120_114, 97_806},
		{"seq-3-metadata", 1_520_892, 1_520_892},
		{"seq-3-nested", 1_835_640, 1_835_640},
		{"subvolumes", 4634, 4634},
	} {
		s := load(t, want.name)
		distinct, err := s.Distinct()
		if s.Count() != want.count || distinct != want.distinct || err != nil {
			t.Errorf("%s: %d workloads, %d distinct, %v; want %d and %d", want.name, s.Count(),
				distinct, err, want.count, want.distinct)
		}
	}
}

// At and Rank are inverse, no workload has two ranks, and the completion of a workload has the rank
// of a workload with the same completion.
func TestBijection(t *testing.T) {
	for _, name := range Names() {
		s := load(t, name)
		step := max(1, s.Count()/997)
		seen := make(map[string]uint64)
		for rank := uint64(0); rank < s.Count(); rank += step {
			w, err := s.At(rank)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := s.Rank(w); got != rank || err != nil {
				t.Fatalf("%s: rank %d: %s has rank %d, %v", name, rank, w, got, err)
			}
			if other, ok := seen[w.String()]; ok {
				t.Fatalf("%s: ranks %d and %d are both %s", name, other, rank, w)
			}
			seen[w.String()] = rank
		}
		if _, err := s.At(s.Count()); err == nil {
			t.Errorf("%s: there is a workload beyond the last rank", name)
		}
	}
}

// Every rank of a small set is a workload of its own, and the generator agrees with an enumeration
// that follows the definition.
func TestNaive(t *testing.T) {
	s, err := Decode([]byte(`
length: 2
first: [foo, A/foo]
second: [bar]
directories: [A]
second_directories: [B]
operations: [{op: creat}, {op: link}, {op: rename}, {op: mmapwrite, ranges: [append, block]}]
persist: related
alone: [mmapwrite]
`))
	if err != nil {
		t.Fatal(err)
	}
	params := s.counter.params
	related := map[string][]string{"foo": {"foo", "bar", "/"}, "bar": {"foo", "bar", "/"},
		"A/foo": {"A/foo", "A"}, "A": {"A", "B", "/"}, "B": {"A", "B", "/"}}
	var want []string
	for _, a := range params {
		for _, b := range params {
			u := map[string]bool{}
			for _, name := range slices.Concat(a.Names(), b.Names()) {
				for _, other := range related[name] {
					u[other] = true
				}
			}
			after := []string{"; sync"}
			for name := range u {
				after = append(after, "; fsync "+name)
			}
			first, second := append(slices.Clone(after), ""), after
			if a.Verb == Mmapwrite {
				first = []string{""}
			}
			if b.Verb == Mmapwrite {
				second = []string{""}
			}
			for _, x := range first {
				for _, y := range second {
					want = append(want, a.String()+x+"; "+b.String()+y)
				}
			}
		}
	}
	var got []string
	for rank := range s.Count() {
		w, err := s.At(rank)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, w.String())
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%d workloads, want %d", len(got), len(want))
	}
}

// A completed workload has the rank of one that it completes.
func TestRankOfCompleted(t *testing.T) {
	for _, name := range []string{"seq-1", "seq-2", "seq-3-nested", "subvolumes"} {
		s := load(t, name)
		for rank := uint64(0); rank < s.Count(); rank += max(1, s.Count()/20) {
			w, err := s.At(rank)
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.Rank(w.Complete())
			if err != nil {
				t.Fatalf("%s: rank %d: %v", name, rank, err)
			}
			other, err := s.At(got)
			if err != nil || !slices.Equal(other.Complete(), w.Complete()) {
				t.Errorf("%s: rank %d: %s has rank %d, %v", name, rank, w.Complete(), got, err)
			}
		}
	}
}

// Workloads that a set does not have are refused, and the error says why.
func TestNotInSet(t *testing.T) {
	s := load(t, "seq-3-data")
	for text, want := range map[string]string{
		"creat foo; sync": "none of its operations",
		"write A/foo append; write A/foo start; sync":                             "workloads have 3",
		"write A/foo start; sync; dwrite A/foo block; dwrite A/foo block; sync":   "leaves out",
		"write A/foo append; write A/foo start; write A/foo start; sync":          "leaves out",
		"write A/foo append; dwrite A/foo append; dwrite A/foo append; sync":      "leaves out",
		"write A/foo append; write A/foo start; dwrite A/foo block":               "nothing is made",
		"write A/foo append; fsync A; write A/foo start; dwrite A/foo last; sync": "not called",
	} {
		w, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Rank(w); !errors.Is(err, ErrNotInSet) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// The version changes with what changes the meaning of ranks.
func TestVersion(t *testing.T) {
	text := "length: 1\nfirst: [a]\noperations: [{op: creat}]\n"
	versions := make(map[string]bool)
	for _, text := range []string{text, strings.Replace(text, "[a]", "[b]", 1),
		text + "persist: related\n", strings.Replace(text, "1", "2", 1)} {
		s, err := Decode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		versions[s.Version()] = true
	}
	if len(versions) != 4 {
		t.Errorf("%d versions of 4 sets", len(versions))
	}
}
