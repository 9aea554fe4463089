package invariants_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fsward/change"
	"fsward/invariants"
	"fsward/invariants/facts"
)

// world is a small transaction with the state after it, which the tests below ask about.
const world = `
change(5,k(257,inode_item,0),object,null,present).
change(5,k(257,inode_item,0),size,null,18446744073709551615).
change(5,k(257,inode_item,0),nlink,1,2).
change(5,k(256,dir_item,42),object,present,present).
change(5,k(256,dir_item,42),location,null,k(257,inode_item,0)).
change(5,k(256,dir_item,42),name,null,'a file').
change(5,k(258,inode_item,0),object,present,null).
change(5,k(258,inode_item,0),size,10,null).
change(5,k(257,inode_ref,a(256,2)),object,null,present).
change(7,k(-10,extent_csum,4096),object,null,present).
change(7,k(-10,extent_csum,4096),nsums,null,11).
change(5,k(300,dir_item,9),object,null,present).
change(5,k(300,dir_item,9),name,null,'null').
change(5,k(300,dir_item,9),name_len,null,4).
object(5,k(256,dir_item,42)).
object(5,k(256,dir_item,50)).
object(5,k(256,inode_item,0)).
object(5,k(257,inode_item,0)).
object(5,k(257,inode_ref,a(256,2))).
object(5,k(257,inode_ref,a(300,7))).
object(7,k(-10,extent_csum,4096)).
state(5,k(256,dir_item,42),location,k(257,inode_item,0)).
state(5,k(256,dir_item,42),name,'a file').
state(5,k(256,dir_item,50),location,k(256,root_item,-1)).
state(5,k(256,dir_item,50),name,'\xff\\xfe\').
state(5,k(257,inode_item,0),size,18446744073709551615).
state(5,k(257,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(5,k(257,inode_ref,a(256,2)),name,'a file').
state(7,k(-10,extent_csum,4096),nsums,11).
adjacent(5,k(256,dir_item,42),k(256,dir_item,50)).
adjacent(5,k(256,dir_item,50),k(257,inode_item,0)).
`

func parseFacts(t testing.TB, text string) *facts.Facts {
	t.Helper()
	f, err := facts.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func newEngine(t testing.TB, s *change.Schema, rules string, o invariants.Options) invariants.Engine {
	t.Helper()
	return newBoth(t, s, rules, o)
}

func checkWorld(t testing.TB, rules string, o invariants.Options) invariants.Verdict {
	t.Helper()
	f := parseFacts(t, world)
	return newEngine(t, f.Txn.Schema, rules, o).Check(context.Background(), f.Txn, f.View)
}

// Each goal is run as the body of a rule; want is the number of different values of X that it has
// (0: it fails). X is written into the third argument of the violation.
func TestGoals(t *testing.T) {
	tests := []struct {
		goal string
		want int
	}{
		// change/5 by each of its access paths.
		{"change(5, k(257,inode_item,0), size, null, X)", 1},
		{"change(5, k(257,inode_item,1), size, null, X)", 0},
		{"change(5, k(257,inode_item,0), X, _, _)", 3},
		{"change(_, k(257,X,_), object, null, present)", 2},
		{"change(_, k(X,inode_item,0), object, null, present)", 1},
		{"change(_, k(X,inode_item,_), size, _, _)", 2},
		{"change(_, X, location, _, k(257,inode_item,0))", 1},
		{"change(_, X, location, _, k(258,inode_item,0))", 0},
		{"change(_, X, nlink, 1, _)", 1},
		{"change(_, X, nlink, 2, _)", 0},
		{"change(_, X, object, _, _)", 6},
		{"change(X, _, _, _, _)", 2},
		{"change(5, k(257, inode_ref, a(X, 2)), object, null, present)", 1},
		{"change(5, k(257, inode_ref, X), object, null, present)", 1},
		{"change(5, k(257, inode_ref, X), name, null, present)", 0},
		{"change(TREE, k(-10, extent_csum, X), object, null, present)", 1},
		{"change(TREE, k(X, extent_csum, _), object, null, present), X =:= 18446744073709551606", 1},
		{"change(TREE, k(18446744073709551606, extent_csum, X), object, null, present)", 1},
		{"change(_, k(X, X, _), _, _, _)", 0},
		{"change(X, k(ID,_,ID), _, _, _)", 0},
		// The wrappers.
		{"add(5, X)", 3},
		{"update(5, X)", 1},
		{"delete(5, X)", 1},
		{"new(5, X)", 4},
		{"old(5, X)", 2},
		{"new(5, k(257,inode_item,0), nlink, X)", 1},
		{"new(5, k(258,inode_item,0), size, X)", 0},
		{"old(5, k(258,inode_item,0), size, X)", 1},
		{"old(5, k(257,inode_item,0), size, X)", 0},
		{"default_zero(5, k(258,inode_item,0), size, 10, X), X =:= 0", 1},
		{"default_zero(5, k(257,inode_item,0), size, X, NEW), NEW > X", 1},
		// query/4, modes 1 and 2, and query/2, modes 3 to 5 (thesis table 3.1).
		{"query(5, k(257,inode_item,0), size, X)", 1},
		{"query(5, k(257,inode_item,0), nlink, X)", 0},
		{"query(5, k(257,inode_item,0), size, 18446744073709551615), X = 1", 1},
		{"query(5, k(257,inode_item,0), size, 18446744073709551614), X = 1", 0},
		{"query(5, k(257,inode_item,0), f(mode,s_ifmt), X)", 1},
		{"query(5, k(257,inode_item,0)), X = 1", 1},
		{"query(5, k(258,inode_item,0)), X = 1", 0},
		{"query(7, k(-10,extent_csum,4096)), X = 1", 1},
		{"query(5, k(256,dir_item,X))", 2},
		{"query(5, k(258,dir_item,X))", 0},
		{"query(5, k(257,inode_ref,a(X,_)))", 2},
		{"query(5, k(257,inode_ref,a(300,X)))", 1},
		{"query(5, k(257,inode_ref,a(256,2))), X = 1", 1},
		{"query(5, k(257,inode_ref,a(256,3))), X = 1", 0},
		{"query(5, k(256,X,_))", 2},
		{"query(5, k(259,X,_))", 0},
		{"query(6, k(256,X,_))", 0},
		{"query(5, k(256,dir_item,X), location, k(257,inode_item,0))", 1},
		{"query(5, k(256,dir_item,X), location, k(256,root_item,-1))", 1},
		{"query(5, k(256,dir_item,X), location, k(999,inode_item,0))", 0},
		{"query(5, k(256,dir_item,X), name, _)", 2},
		{"query(5, k(256,dir_item,X), name, 'a file')", 1},
		{"query(5, k(256,dir_item,42), location, L), query(5, L, size, X)", 1},
		{"query(5, k(257,inode_item,0), object, present), X = 1", 1},
		// previous/3 and next/3.
		{"next(5, k(256,dir_item,42), k(256,dir_item,X))", 1},
		{"next(5, k(256,dir_item,50), k(X,inode_item,0))", 1},
		{"next(5, k(257,inode_item,0), X)", 0},
		{"next(5, k(256,dir_item,50), k(X,dir_item,_))", 0},
		{"previous(5, k(256,dir_item,50), k(256,dir_item,X))", 1},
		{"previous(5, k(256,dir_item,42), X)", 0},
		// Names: bytes survive, the same name is equal wherever it comes from, a file named null is a name.
		{"new(5, k(256,dir_item,42), name, N), query(5, k(257,inode_ref,a(256,2)), name, N), X = 1", 1},
		{"new(5, k(256,dir_item,42), name, N), query(5, k(256,dir_item,50), name, N), X = 1", 0},
		{`query(5, k(256,dir_item,X), name, '\xff\\xfe\')`, 1},
		{`query(5, k(256,dir_item,X), name, '\xff\\xff\')`, 0},
		{"crc32c('a file', X)", 1},
		{"query(5, k(256,dir_item,50), name, N), crc32c(N, X)", 1},
		{"crc32c('a file', 42), X = 1", 0},
		// Control.
		{"not(add(5, k(999,inode_item,0))), X = 1", 1},
		{"not(add(5, k(257,inode_item,0))), X = 1", 0},
		{"not(query(5, k(257,inode_item,0), size, S), S < 10), X = 1", 1},
		{"not(query(5, k(257,inode_item,0), size, S), S > 10), X = 1", 0},
		{"\\+ fail, X = 1", 1},
		{"verify(query(5, k(257,inode_item,0))), X = 1", 0},
		{"verify(query(5, k(258,inode_item,0))), X = 1", 1},
		{"( X = 1 ; X = 2 ; fail )", 2},
		{"( fail -> X = 1 ; X = 2 )", 1},
		{"( member(X, [1,2]) -> true ; X = 3 )", 1},
		{"( fail -> X = 1 )", 0},
		{"member(X, [1,2,3,2])", 3},
		{"once(member(X, [1,2]))", 1},
		{"forall(member(Y, [1,2]), Y < 3), X = 1", 1},
		{"forall(member(Y, [1,2]), Y < 2), X = 1", 0},
		{"G = member(X, [1,2]), call(G)", 2},
		{"call(member, X, [1,2])", 2},
		{"findall(Y, member(Y, [1,2]), X)", 1},
		{"between(1, 3, X)", 3},
		// Aggregates.
		{"count(query(5, k(256,dir_item,_)), X), X =:= 2", 1},
		{"count(query(5, k(999,dir_item,_)), X), X =:= 0", 1},
		{"sum(H, query(5, k(256,dir_item,H)), X), X =:= 92", 1},
		{"sum(H*2, query(5, k(999,dir_item,H)), X), X =:= 0", 1},
		// Numbers do not wrap and have one form.
		{"X is 18446744073709551615 + 1, X > 18446744073709551615, Y is X - 18446744073709551616, Y == 0", 1},
		{"X is 9223372036854775807 + 1, X == 9223372036854775808", 1},
		{"X is 9223372036854775808 - 1, X = 9223372036854775807", 1},
		{"X is -9223372036854775808 - 1, X < 0", 1},
		{"X is 4294967296 * 4294967296, X = 18446744073709551616", 1},
		{"X is -3 * 5, X = -15", 1},
		{"query(5, k(257,inode_item,0), size, S), X is S + 4096, X > S", 1},
		{"query(5, k(257,inode_item,0), size, S), X is S /\\ 0xff, X =:= 255", 1},
		{"X is 1 << 64 >> 63, X =:= 2", 1},
		{"X is 5 xor 1, X =:= 4", 1},
		{"X is 5 \\/ 2, X =:= 7", 1},
		{"X is \\ 0, X =:= -1", 1},
		{"X is -7 // 2, X =:= -3", 1},
		{"X is -7 div 2, X =:= -4", 1},
		{"X is -7 mod 2, X =:= 1", 1},
		{"X is -7 rem 2, X =:= -1", 1},
		{"X is max(1, min(3, abs(-2))), X =:= 2", 1},
		{"X = 0'a, X =:= 97", 1},
		{"X = 1, 1 =\\= 2, 1 =< 1, 2 >= 1, 1 < 2, 2 > 1", 1},
		{"X = 1, 1 =:= 2", 0},
		// Terms.
		{"X = f(Y), Y = 1", 1},
		{"Y = f(Y), X = 1", 0},
		{"X = 1, a \\= b, a \\== b, a == a, a @< b", 1},
		{"X = 1, a \\= a", 0},
		{"k(1,b,X) =.. [_, _, _, X], X = 2", 1},
		{"functor(k(1,b,2), N, X), N == k", 1},
		{"arg(2, k(1,b,2), X)", 1},
		{"query(5, k(256,dir_item,42), name, X), atom(X), atomic(X), nonvar(X)", 1},
		{"X = 18446744073709551615, integer(X), number(X)", 1},
		{"X = 1, var(_), compound(f(X))", 1},
	}
	for _, test := range tests {
		t.Run(test.goal, func(t *testing.T) {
			v := checkWorld(t, "violation(1, 5, found(X)) :- "+test.goal+".", invariants.Options{})
			if len(v.Undecided) > 0 {
				t.Fatalf("undecided: %v", v.Undecided)
			}
			if len(v.Violations) != test.want {
				t.Errorf("%d solutions, want %d: %v", len(v.Violations), test.want, lines(v.Violations))
			}
		})
	}
}

// A goal that cannot be judged makes its rule undecided with a reason, never passes, and leaves the other
// rules alone.
func TestUndecided(t *testing.T) {
	tests := []struct{ name, rules, reason string }{
		{"a word is no number", "violation(1, 5, k(1,inode_item,0)) :- query(5, k(257,inode_item,0), f(mode,s_ifmt), M), M < 3.", "is not a number"},
		{"null is no number", "violation(1, 5, 1) :- change(_, _, size, OLD, NEW), OLD > NEW.", "null is not a number"},
		{"right side", "violation(1, 5, 1) :- 3 < present.", "3 < present: present is not a number"},
		{"unbound arithmetic", "violation(1, 5, X) :- X > 3.", "no value"},
		{"division by zero", "violation(1, 5, X) :- X is 1 // 0.", "division by zero"},
		{"huge number", "violation(1, 5, X) :- X is 1 << 5000.", "shift by 5000"},
		{"growing number", "violation(1, 5, X) :- square(3, X).\nsquare(N, X) :- M is N * N, square(M, X).", "more than 4096 bits"},
		{"goal that is a variable", "violation(1, 5, X) :- call(X).", "variable"},
		{"goal that is a number", "violation(1, 5, X) :- X = 3, call(X).", "3 is not a goal"},
		{"unknown predicate at run time", "violation(1, 5, X) :- X = halt, call(X).", "halt/0"},
		{"query without a tree", "violation(1, TREE, ID) :- query(TREE, k(1,inode_item,0)), ID = 1.", "needs a TREE"},
		{"query without an object id", "violation(1, 5, k(ID,inode_item,0)) :- query(5, k(ID,inode_item,0)).", "needs the object id"},
		{"query without a field", "violation(1, 5, F) :- query(5, k(257,inode_item,0), F, _).", "needs a FIELD"},
		{"next of a part", "violation(1, 5, N) :- next(5, k(256,dir_item,_), N).", "whole identifier"},
		{"crc32c without a name", "violation(1, 5, N) :- crc32c(N, _).", "needs a name or a hash"},
		{"crc32c of a number", "violation(1, 5, X) :- add(5, k(V,dir_item,_)), add(5, k(X,_,_)), crc32c(X, V).", "crc32c needs a name, not"},
		{"endless recursion", "violation(1, 5, X) :- p(X).\np(X) :- p(f(X)).", "endless recursion"},
		{"endless negation", "violation(1, 5, X) :- p(X).\np(X) :- \\+ p(X).", "endless recursion"},
		{"endless backtracking", "violation(1, 5, X) :- between(1, 1000000000000000000000, X), fail.", "steps"},
		{"exponential", "violation(1, 5, X) :- p(60, X).\np(N, X) :- N > 0, M is N - 1, p(M, X).\np(N, X) :- N > 0, M is N - 1, p(M, X).", "steps"},
		{"doubling term", "violation(1, 5, X) :- p(f(a), X).\np(T, X) :- U = f(T,T), p(U, X).", "steps"},
		{"doubling sum", "violation(1, 5, X) :- p(1, 60, S), X is S.\np(S, 0, S).\np(T, N, S) :- N > 0, M is N - 1, p(T+T, M, S).", "steps"},
		{"doubling property", "violation(1, 5, 1) :- p(g, 60, S), verify(q(S)).\nq(_) :- fail.\np(S, 0, S).\np(T, N, S) :- N > 0, M is N - 1, p(f(T,T), M, S).", ""},
		{"too many violations", "violation(1, 5, X) :- between(1, 2000, X).", "stopped after 1000 violations"},
	}
	other := "\nviolation(2, 5, k(257,inode_item,0)) :- add(5, k(257,inode_item,0)).\nviolation(3, 5, 1) :- fail.\n"
	for _, test := range tests {
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
				t.Errorf("rule 2 found %d violations, outcome %v: it must not suffer from rule 1", second, v.Outcome)
			}
			if test.reason == "" {
				return
			}
			if len(v.Undecided) != 1 || !strings.HasPrefix(v.Undecided[0], "btrfs/1 at test.pl:1: ") || !strings.Contains(v.Undecided[0], test.reason) {
				t.Errorf("undecided %q, want one for btrfs/1 at test.pl:1 with %q", v.Undecided, test.reason)
			}
			alone := checkWorld(t, test.rules, o)
			if len(alone.Violations) == 0 && alone.Outcome != change.Undecided {
				t.Errorf("outcome %v, want undecided", alone.Outcome)
			}
		})
	}
}

// The same rule takes the same number of steps each time: it is undecided at one budget and decided at the
// next, whatever the machine.
func TestBudgetIsDeterministic(t *testing.T) {
	rules := "violation(1, TREE, ID) :- new(TREE, ID), between(1, 200, _), fail."
	decided := func(steps int64) bool {
		return checkWorld(t, rules, invariants.Options{Steps: steps, StepsPerRecord: 1}).Outcome == change.Holds
	}
	low, high := int64(1), int64(1_000_000)
	if decided(low) || !decided(high) {
		t.Fatal("the budget does not matter")
	}
	for low+1 < high {
		if mid := (low + high) / 2; decided(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	for range 3 {
		if decided(low) || !decided(high) {
			t.Fatalf("%d steps are enough at one time and not at another", high)
		}
	}
}

// A rule that never ends is stopped by the context, and its memory stays bounded while it runs.
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

// An error of the view is undecided in every primitive, also beneath a negation.
func TestViewErrors(t *testing.T) {
	for _, goal := range []string{
		"query(5, k(257,inode_item,0))", "query(5, k(257,inode_ref,a(256,2)))", "query(5, k(257,inode_item,0), size, _)",
		"query(5, k(257,inode_ref,a(256,2)), name, _)", "query(5, k(257,_,_))", "query(5, k(256,dir_item,_), location, k(257,inode_item,0))",
		"next(5, k(256,dir_item,42), _)", "previous(5, k(256,dir_item,42), _)",
	} {
		for _, body := range []string{goal, "not(" + goal + ")", "verify(" + goal + ")", "count(" + goal + ", N), N > 0"} {
			f := parseFacts(t, world)
			e := newEngine(t, f.Txn.Schema, "violation(1, 5, 1) :- "+body+".", invariants.Options{})
			v := e.Check(context.Background(), f.Txn, failingView{f.View})
			if v.Outcome != change.Undecided || len(v.Undecided) != 1 || !strings.Contains(v.Undecided[0], errDisk.Error()) {
				t.Errorf("%s: %v %v", body, v.Outcome, v.Undecided)
			}
		}
	}
}

// What a violation says of itself.
func TestViolation(t *testing.T) {
	rules := `% Rule 3. A size is small. Sometimes.
% It is, e.g. less than ten.
% Source: a
%  book
% For the user: nothing.
violation(3, TREE, k(I,inode_item,0)) :- new(TREE, k(I,inode_item,0), size, S), S > 10.
violation(3, TREE, ID) :- change(TREE, ID, size, _, _).

violation(named, 7, k(-10,extent_csum,X)) :- new(7, k(-10,extent_csum,X)).
violation(12, 5, k(300,inode_item,0)) :- true.
violation(12, 5, k(257,inode_item,0)) :- true.
violation(12, 5, odd('it''s', [1,2|_])) :- true.
`
	f := parseFacts(t, world)
	e := newEngine(t, f.Txn.Schema, rules, invariants.Options{})
	want := []invariants.Rule{
		{Name: "btrfs/3", Doc: "A size is small.", Source: "test.pl:6", Origin: "a book", User: "nothing.", Severity: invariants.DefaultSeverity},
		{Name: "btrfs/named", Source: "test.pl:9", Severity: invariants.DefaultSeverity},
		{Name: "btrfs/12", Source: "test.pl:10", Severity: invariants.DefaultSeverity},
	}
	if d := cmp.Diff(want, e.Rules()); d != "" {
		t.Errorf("rules (-want +got):\n%s", d)
	}
	v := e.Check(context.Background(), f.Txn, f.View)
	inode := []string{"change(5,k(257,inode_item,0),object,null,present)", "change(5,k(257,inode_item,0),size,null,18446744073709551615)",
		"change(5,k(257,inode_item,0),nlink,1,2)"}
	by := func(rule, tree, id, doc, source string, witness ...string) change.Violation {
		return change.Violation{Rule: rule, Kind: change.ByRule, Tree: tree, ID: id, Doc: doc, Source: source, Witness: witness}
	}
	wantViolations := []change.Violation{
		by("btrfs/named", "7", "k(-10,extent_csum,4096)", "", "test.pl:9",
			"change(7,k(-10,extent_csum,4096),object,null,present)", "change(7,k(-10,extent_csum,4096),nsums,null,11)"),
		by("btrfs/3", "5", "k(257,inode_item,0)", "A size is small.", "test.pl:6", inode...),
		by("btrfs/3", "5", "k(258,inode_item,0)", "A size is small.", "test.pl:7",
			"change(5,k(258,inode_item,0),object,present,null)", "change(5,k(258,inode_item,0),size,10,null)"),
		by("btrfs/12", "5", `odd('it\'s',[1,2|_])`, "", "test.pl:12"),
		by("btrfs/12", "5", "k(257,inode_item,0)", "", "test.pl:11", inode...),
		by("btrfs/12", "5", "k(300,inode_item,0)", "", "test.pl:10", "change(5,k(300,dir_item,9),object,null,present)",
			"change(5,k(300,dir_item,9),name,null,null)", "change(5,k(300,dir_item,9),name_len,null,4)"),
	}
	if d := cmp.Diff(wantViolations, v.Violations); d != "" {
		t.Errorf("violations (-want +got):\n%s", d)
	}
	// An engine is used for one transaction after another; nothing of the first is left in the second.
	empty := parseFacts(t, "")
	empty.Txn.Schema = f.Txn.Schema
	if v := e.Check(context.Background(), empty.Txn, empty.View); len(v.Violations) != 3 {
		t.Errorf("an empty transaction has %d violations of the rules that are always broken, want 3", len(v.Violations))
	}
}

// A guest cannot hide an entry by naming a file null.
func TestFileNamedNull(t *testing.T) {
	names := change.NewNames()
	s := &change.Schema{FS: "btrfs", Kinds: []change.KindInfo{{}, {Name: "dir_item", Fields: []change.Field{1}}},
		Fields: []string{"object", "name"}, Words: []string{"present"}}
	txn := &change.Txn{Schema: s, Names: names}
	o := change.Object{Tree: 5, ID: 256, Kind: 1, Sub: 7}
	txn.Append(change.Record{Object: o, Field: 1, New: names.Intern([]byte("null"))})
	e := newEngine(t, s, "violation(1, T, ID) :- new(T, ID, name, _).", invariants.Options{})
	if v := e.Check(context.Background(), txn, parseFacts(t, "").View); v.Outcome != change.Violated {
		t.Errorf("outcome %v: the file named null was taken for no value", v.Outcome)
	}
}

// Several objects with one printed identifier are several solutions of a query.
func TestObjectsOfOneKey(t *testing.T) {
	names := change.NewNames()
	s := &change.Schema{FS: "btrfs", Kinds: []change.KindInfo{{}, {Name: "dir_item", Fields: []change.Field{1}}},
		Fields: []string{"object", "name"}, Words: []string{"present"}}
	view := &pairView{names: [2]change.Value{names.Intern([]byte("one")), names.Intern([]byte("two"))}}
	e := newEngine(t, s, `violation(1, 5, NAME) :- query(5, k(256,dir_item,7), name, NAME).
violation(2, 5, N) :- count(query(5, k(256,dir_item,7)), N).`, invariants.Options{})
	v := e.Check(context.Background(), &change.Txn{Schema: s, Names: names}, view)
	want := []string{"1\t5\t'one'", "1\t5\t'two'", "2\t5\t2"}
	if d := cmp.Diff(want, lines(v.Violations)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// pairView has two entries with one key.
type pairView struct {
	failingView
	names [2]change.Value
}

func (v *pairView) Get(o change.Object, _ change.Field) (change.Value, bool, error) {
	return v.names[o.Aux], true, nil
}
func (v *pairView) Scan(lo, hi change.Object) iter.Seq2[change.Object, error] {
	return func(yield func(change.Object, error) bool) {
		for aux := range uint64(2) {
			if o := (change.Object{Tree: 5, ID: 256, Kind: 1, Sub: 7, Aux: aux}); lo.Compare(o) <= 0 && o.Compare(hi) <= 0 {
				if !yield(o, nil) {
					return
				}
			}
		}
	}
}

// ext3 has the kind in the place of the tree and identifiers of its own shapes.
func TestKindIsTree(t *testing.T) {
	text := `
change(inode,12,object,null,present).
change(inode,12,links_count,null,2).
change(dirent,a(2,'a'),object,null,present).
change(dirent,a(2,'a'),inode,null,12).
change(pointer,a(12,3),object,null,present).
change(pointer,a(12,3),block,null,700).
object(inode,12).
object(dirent,a(2,'a')).
object(dirent,a(2,'b\x80')).
object(pointer,a(12,3)).
state(inode,12,links_count,2).
state(dirent,a(2,'a'),inode,12).
state(dirent,a(2,'b\x80'),inode,12).
state(pointer,a(12,3),block,700).
`
	text = strings.ReplaceAll(text, `b\x80'`, `b\x80\'`)
	for goal, want := range map[string][]string{
		"add(inode, ID), X = ID":                               {"12"},
		"add(dirent, a(D, NAME)), X = r(D, NAME)":              {"r(2,'a')"},
		"query(inode, 12, links_count, X)":                     {"2"},
		"query(inode, 13), X = 1":                              nil,
		"query(dirent, a(2, X))":                               {"'a'", `'b\x80\'`},
		"query(dirent, a(2, X), inode, 12)":                    {"'a'", `'b\x80\'`},
		"query(dirent, a(2, 'a')), X = 1":                      {"1"},
		"query(dirent, a(2, 'c')), X = 1":                      nil,
		"query(pointer, a(12, X), block, 700)":                 {"3"},
		"new(KIND, X)":                                         {"12", "a(12,3)", "a(2,'a')"},
		"new(pointer, a(I, N), block, B), X = b(B)":            {"b(700)"},
		"count(query(dirent, a(2, _), inode, 12), X)":          {"2"},
		"query(dirent, a(2, N), inode, I), N \\== a, X = i(I)": {"i(12)"},
		"change(KIND, a(2,'a'), F, _, 12), X = p(KIND, F)":     {"p(dirent,inode)"},
		"change(KIND, a(12,3), block, _, B), X = p(KIND, B)":   {"p(pointer,700)"},
	} {
		f := parseFacts(t, text)
		e := newEngine(t, f.Txn.Schema, "violation(1, found, X) :- "+goal+".", invariants.Options{})
		v := e.Check(context.Background(), f.Txn, f.View)
		var got []string
		for _, x := range v.Violations {
			got = append(got, x.ID)
		}
		if d := cmp.Diff(want, got); d != "" || len(v.Undecided) > 0 {
			t.Errorf("%s (-want +got):\n%s%v", goal, d, v.Undecided)
		}
	}
	f := parseFacts(t, text)
	e := newEngine(t, f.Txn.Schema, "violation(1, dirent, a(D, N)) :- new(dirent, a(D, N)).", invariants.Options{})
	v := e.Check(context.Background(), f.Txn, f.View)
	if got := fmt.Sprint(v.Violations); !strings.Contains(got, "change(dirent,a(2,'a'),inode,null,12)") || v.Violations[0].Rule != "ext3/1" {
		t.Errorf("violation of ext3: %s", got)
	}
}
