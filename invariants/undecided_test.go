package invariants_test

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"fsward/change"
	"fsward/invariants"
)

// undecidedTests are rules that cannot be judged, and the reason; "": the rule may
// have any outcome.
var undecidedTests = []struct{ name, rules, reason string }{
	{"a word is no number",
		"violation(1, 5, k(1,inode_item,0)) :- query(5, k(257,inode_item,0), f(mode,s_ifmt), M), M < 3.",
		"is not a number"},
	{"null is no number", "violation(1, 5, 1) :- change(_, _, size, OLD, NEW), OLD > NEW.",
		"null is not a number"},
	{"right side", "violation(1, 5, 1) :- 3 < present.", "3 < present: present is not a number"},
	{"unbound arithmetic", "violation(1, 5, X) :- X > 3.", "no value"},
	{"division by zero", "violation(1, 5, X) :- X is 1 // 0.", "division by zero"},
	{"huge number", "violation(1, 5, X) :- X is 1 << 5000.", "shift by 5000"},
	{"growing number", "violation(1, 5, X) :- square(3, X).\n" +
		"square(N, X) :- M is N * N, square(M, X).", "more than 4096 bits"},
	{"goal that is a variable", "violation(1, 5, X) :- call(X).", "variable"},
	{"goal that is a number", "violation(1, 5, X) :- X = 3, call(X).", "3 is not a goal"},
	{"unknown predicate at run time", "violation(1, 5, X) :- X = halt, call(X).", "halt/0"},
	{"query without a tree", "violation(1, TREE, ID) :- query(TREE, k(1,inode_item,0)), ID = 1.",
		"needs a TREE"},
	{"query without an object id",
		"violation(1, 5, k(ID,inode_item,0)) :- query(5, k(ID,inode_item,0)).", "needs the object id"},
	{"query without a field", "violation(1, 5, F) :- query(5, k(257,inode_item,0), F, _).",
		"needs a FIELD"},
	{"next of a part", "violation(1, 5, N) :- next(5, k(256,dir_item,_), N).", "whole identifier"},
	{"crc32c without a name", "violation(1, 5, N) :- crc32c(N, _).", "needs a name or a hash"},
	{"crc32c of a number",
		"violation(1, 5, X) :- add(5, k(V,dir_item,_)), add(5, k(X,_,_)), crc32c(X, V).",
		"crc32c needs a name, not"},
	{"endless recursion", "violation(1, 5, X) :- p(X).\np(X) :- p(f(X)).", "endless recursion"},
	{"endless negation", "violation(1, 5, X) :- p(X).\np(X) :- \\+ p(X).", "endless recursion"},
	{"endless backtracking", "violation(1, 5, X) :- between(1, 1000000000000000000000, X), fail.",
		"steps"},
	{"exponential", "violation(1, 5, X) :- p(60, X).\np(N, X) :- N > 0, M is N - 1, p(M, X).\n" +
		"p(N, X) :- N > 0, M is N - 1, p(M, X).", "steps"},
	{"doubling term", "violation(1, 5, X) :- p(f(a), X).\np(T, X) :- U = f(T,T), p(U, X).", "steps"},
	{"doubling sum", "violation(1, 5, X) :- p(1, 60, S), X is S.\np(S, 0, S).\n" +
		"p(T, N, S) :- N > 0, M is N - 1, p(T+T, M, S).", "steps"},
	{"doubling property", "violation(1, 5, 1) :- p(g, 60, S), verify(q(S)).\nq(_) :- fail.\n" +
		"p(S, 0, S).\np(T, N, S) :- N > 0, M is N - 1, p(f(T,T), M, S).", ""},
	{"too many violations", "violation(1, 5, X) :- between(1, 2000, X).",
		"stopped after 1000 violations"},
}

// TestUndecided checks that a goal that cannot be judged makes its rule undecided, with a reason.
// It does not affect other rules.
func TestUndecided(t *testing.T) {
	other := "\nviolation(2, 5, k(257,inode_item,0)) :- add(5, k(257,inode_item,0)).\n" +
		"violation(3, 5, 1) :- fail.\n"
	for _, test := range undecidedTests {
		t.Run(test.name, func(t *testing.T) {
			o := invariants.Options{Steps: 300_000, StepsPerRecord: 1}
			start := cpuTime()
			v := checkWorld(t, test.rules+other, o)
			if took := cpuTime() - start; took > 10*time.Second {
				t.Errorf("took %v of the CPU", took)
			}
			second := 0
			for _, violation := range v.Violations {
				if violation.Rule == "btrfs/2" {
					second++
				}
			}
			if second != 1 || v.Outcome != change.Violated {
				t.Errorf("rule 2 found %d violations, outcome %v: rule 1 affects it", second,
					v.Outcome)
			}
			if test.reason == "" {
				return
			}
			if len(v.Undecided) != 1 || !strings.HasPrefix(v.Undecided[0], "btrfs/1 at test.pl:1: ") ||
				!strings.Contains(v.Undecided[0], test.reason) {
				t.Errorf("undecided %q, want one for btrfs/1 at test.pl:1 with %q", v.Undecided, test.reason)
			}
			alone := checkWorld(t, test.rules, o)
			if len(alone.Violations) == 0 && alone.Outcome != change.Undecided {
				t.Errorf("outcome %v, want undecided", alone.Outcome)
			}
		})
	}
}

// TestContextStopsRules checks that the context stops a rule that never ends, and its memory stays
// bounded while it runs.
func TestContextStopsRules(t *testing.T) {
	for _, rules := range []string{
		"violation(1, 5, X) :- p(X).\np(X) :- p(f(X)).",
		"violation(1, 5, X) :- between(1, 1000000000000000, X), fail.",
		"violation(1, 5, X) :- count(between(1, 1000000000000000, X), N), N > 3.",
		"violation(1, 5, X) :- p(X), fail.\np(1).\np(X) :- p(X).",
	} {
		f := parseFacts(t, world)
		e := newEngine(t, f.Txn.Schema, rules, invariants.Options{Steps: 1 << 60})
		ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
		start := time.Now()
		v := e.Check(ctx, f.Txn, f.View)
		cancel()
		if took := time.Since(start); took > 3*time.Second {
			t.Errorf("%s: stopped only after %v", rules, took)
		}
		if v.Outcome != change.Undecided || len(v.Undecided) == 0 {
			t.Errorf("%s: outcome %v %v", rules, v.Outcome, v.Undecided)
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		if m.HeapInuse > 500<<20 {
			t.Errorf("%s: %d MiB in use", rules, m.HeapInuse>>20)
		}
	}
}

// failingView cannot read the disk.
type failingView struct{ change.View }

var errDisk = errors.New("read error at 0x1000")

func (failingView) Get(change.Object, change.Field) (change.Value, bool, error) {
	return change.Value{}, false, errDisk
}
func (failingView) Exists(change.Object) (bool, error) { return false, errDisk }
func (failingView) Scan(lo, hi change.Object) iter.Seq2[change.Object, error] {
	return func(yield func(change.Object, error) bool) { yield(change.Object{}, errDisk) }
}
func (v failingView) ScanDown(lo, hi change.Object) iter.Seq2[change.Object, error] {
	return v.Scan(lo, hi)
}
func (failingView) Previous(change.Object) (change.Object, bool, error) {
	return change.Object{}, false, errDisk
}
func (failingView) Next(change.Object) (change.Object, bool, error) {
	return change.Object{}, false, errDisk
}

// TestViewErrors checks that an error of the view makes the rule undecided in every primitive, also
// inside a negation.
func TestViewErrors(t *testing.T) {
	for _, goal := range []string{
		"query(5, k(257,inode_item,0))", "query(5, k(257,inode_ref,a(256,2)))",
		"query(5, k(257,inode_item,0), size, _)",
		"query(5, k(257,inode_ref,a(256,2)), name, _)", "query(5, k(257,_,_))",
		"query(5, k(256,dir_item,_), location, k(257,inode_item,0))",
		"next(5, k(256,dir_item,42), _)", "previous(5, k(256,dir_item,42), _)",
	} {
		for _, body := range []string{goal, "not(" + goal + ")", "verify(" + goal + ")", "count(" + goal +
			", N), N > 0"} {
			f := parseFacts(t, world)
			e := newEngine(t, f.Txn.Schema, "violation(1, 5, 1) :- "+body+".", invariants.Options{})
			v := e.Check(context.Background(), f.Txn, failingView{f.View})
			if v.Outcome != change.Undecided || len(v.Undecided) != 1 ||
				!strings.Contains(v.Undecided[0], errDisk.Error()) {
				t.Errorf("%s: %v %v", body, v.Outcome, v.Undecided)
			}
		}
	}
}

// cpuTime returns the CPU time of this process.
func cpuTime() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &now); err != nil {
		panic(err) // not reached: Linux has this clock
	}
	return time.Duration(now.Nano())
}
