package ekm

import (
	"strings"
	"testing"
)

// edge returns an edge from one lock to another, with gates.
func edge(from, to uint64, gates ...uint64) LockEdge {
	site := func(lock uint64) string { return string(rune('a' + lock)) }
	return LockEdge{From: from, To: to, Gates: gates, FromSite: site(from), ToSite: site(to)}
}

// TestCircularWaits checks that each cycle of locks is found once, and none with a gate.
func TestCircularWaits(t *testing.T) {
	for _, c := range []struct {
		name  string
		edges []LockEdge
		want  []string // the sites at which locks were wanted, of each cycle
	}{
		{"a tree", []LockEdge{edge(1, 2), edge(1, 3), edge(2, 3)}, nil},
		{"two locks", []LockEdge{edge(1, 2), edge(2, 1), edge(2, 3)}, []string{"cb"}},
		{"three locks", []LockEdge{edge(3, 1), edge(1, 2), edge(2, 3)}, []string{"cdb"}},
		{"five locks", []LockEdge{edge(1, 2), edge(2, 3), edge(3, 4), edge(4, 5), edge(5, 1)}, nil},
		{"a gate", []LockEdge{edge(1, 2, 9), edge(2, 1, 8, 9)}, nil},
		{"different gates", []LockEdge{edge(1, 2, 9), edge(2, 1, 8)}, []string{"cb"}},
		{"a way around a gate", []LockEdge{edge(1, 2, 9), edge(2, 1, 9), edge(2, 3), edge(3, 1)},
			[]string{"cdb"}},
		{"two cycles", []LockEdge{edge(1, 2), edge(2, 1), edge(4, 5), edge(5, 4)},
			[]string{"cb", "fe"}},
	} {
		var got []string
		for _, f := range circularWaits(c.edges) {
			sites := ""
			for line := range strings.SplitSeq(f.Text, "; ") {
				sites += line[len(line)-1:]
			}
			got = append(got, sites)
		}
		if strings.Join(got, " ") != strings.Join(c.want, " ") {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestParseChecks checks the names of checks.
func TestParseChecks(t *testing.T) {
	for text, want := range map[string]Checks{"": 0, "locks": Locks, "all": OfModule, "memory": Memory,
		"buffers,pairs": Pairs | Buffers} {
		if got, err := ParseChecks(text); got != want || err != nil {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"lock", "locks,", "all,locks"} {
		if got, err := ParseChecks(text); err == nil {
			t.Errorf("%q: %d", text, got)
		}
	}
}
