package ext3

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestPieces checks random runs against single blocks: the pieces say the same of each block, two
// pieces have all blocks in common or none, no piece can be longer, and it does not matter in which
// order runs were found.
func TestPieces(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		runs := randomRuns(random)
		xattr := []uint32{random.Uint32N(60), random.Uint32N(60)}
		got := piecesOf(runs, xattr)
		random.Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
		if again := piecesOf(runs, xattr); !slices.Equal(got, again) {
			t.Fatalf("the order of runs matters:\n%v\n%v", got, again)
		}
		facts := singles(runs)
		if !slices.Equal(singles(got), facts) {
			t.Fatalf("%v are other blocks than %v", got, runs)
		}
		for _, a := range got {
			for _, b := range got {
				if a.first != b.first && uint64(a.first) < b.end() && uint64(b.first) < a.end() ||
					a.first == b.first && a.n != b.n {
					t.Fatalf("%v and %v overlap", a, b)
				}
			}
			if next := uint32(a.end()); alike(facts, next-1, next) &&
				!slices.Contains(xattr, next-1) && !slices.Contains(xattr, next) {
				t.Fatalf("%v ends before block %d, which is like the last: %v", a, next, got)
			}
		}
	}
}

// randomRuns returns runs over few blocks, so that they overlap. The pointers of an inode do not,
// and a bit changes once.
func randomRuns(random *rand.Rand) (runs []blockRun) {
	for how := range howMany {
		for of := range uint32(3) {
			at, pos := random.Uint32N(10), uint64(random.Uint32N(5))
			for range random.IntN(4) {
				n := 1 + random.Uint32N(9)
				r := blockRun{first: at, n: n, of: of, how: how, pos: pos}
				if how == freed || how == marked {
					r.first += 40 * of // the bits of another group
					r.pos = uint64(r.first)
				}
				runs = append(runs, r)
				at, pos = at+n+random.Uint32N(2), pos+uint64(n)
			}
		}
	}
	return runs
}

func piecesOf(runs []blockRun, xattr []uint32) (got []blockRun) {
	r := blockRuns{xattr: xattr}
	for _, b := range runs {
		r.add(b)
	}
	got, _ = r.cut(func(int) error { return nil })
	return got
}

// singles returns the runs block by block, in order.
func singles(runs []blockRun) (all []blockRun) {
	for _, r := range runs {
		for b := uint64(r.first); b < r.end(); b++ {
			all = append(all, r.part(b, b+1))
		}
	}
	slices.SortFunc(all, func(a, b blockRun) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.how, b.how),
			cmp.Compare(a.of, b.of), cmp.Compare(a.pos, b.pos))
	})
	return all
}

// alike reports whether all that is true of a block continues with the next, and nothing else.
func alike(facts []blockRun, block, next uint32) bool {
	of := func(block uint32) (list []blockRun) {
		for _, f := range facts {
			if f.first == block {
				f.first, f.pos = 0, f.pos-uint64(block)
				list = append(list, f)
			}
		}
		return list
	}
	return slices.Equal(of(block), of(next))
}

// TestConsecutive counts pointers to consecutive blocks, also at the ends of a block and of the
// numbers.
func TestConsecutive(t *testing.T) {
	pointers := []uint32{0, 0, 1, 2, 3, 5, 4, 0xffffffff, 0, 1, 7, 8}
	b := make([]byte, 0, 4*len(pointers))
	for _, p := range pointers {
		b = append(b, byte(p), byte(p>>8), byte(p>>16), byte(p>>24))
	}
	want := []uint32{1, 1, 3, 2, 1, 1, 1, 1, 1, 1, 2, 1}
	for i, n := range want {
		if got := consecutive(b, 4*i); got != n {
			t.Errorf("%d pointers from %d on, want %d", got, i, n)
		}
	}
}
