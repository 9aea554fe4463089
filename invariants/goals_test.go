package invariants_test

import (
	"context"
	"testing"

	"fsward/change"
	"fsward/invariants"
	"fsward/invariants/facts"
)

// world is a small transaction with the state after it, which the tests below query.
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

func newEngine(t testing.TB, s *change.Schema, rules string,
	o invariants.Options) invariants.Engine {
	t.Helper()
	return newBoth(t, s, rules, o)
}

func checkWorld(t testing.TB, rules string, o invariants.Options) invariants.Verdict {
	t.Helper()
	f := parseFacts(t, world)
	return newEngine(t, f.Txn.Schema, rules, o).Check(context.Background(), f.Txn, f.View)
}

// goalTests are goals with the number of different values of X; 0: the goal fails.
var goalTests = []struct {
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
	// Names: bytes survive, equal names are equal wherever they come from, and a file named
	// null is a name.
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
	{"X is 18446744073709551615 + 1, X > 18446744073709551615, Y is X - 18446744073709551616, Y == 0",
		1},
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

// TestGoals runs each goal as the body of a rule; want is the number of different values of X (0:
// the goal fails). X is the third argument of the violation.
func TestGoals(t *testing.T) {
	for _, test := range goalTests {
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
