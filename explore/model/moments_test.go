package model_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"fsward/explore/model"
	"fsward/explore/modeltest"
)

// TestMoments checks that the timeline leaves out no moment that matches, and leaves few others.
func TestMoments(t *testing.T) {
	left, right := 0, 0
	for i, p := range []model.Promises{ordered, journal, alone} {
		for seed := range uint64(150) {
			f, g, r := model.New(p), modeltest.NewGenerator(seed), rand.New(rand.NewPCG(seed, 1))
			var trees []*model.Observed
			for range 60 {
				if f.Apply(g.Op()); r.IntN(4) == 0 {
					trees = append(trees, f.Observed())
				}
			}
			for _, s := range trees {
				possible, matching := f.MomentsOf(s)
				left, right = left+len(possible), right+len(matching)
				for _, m := range matching {
					if !slices.Contains(possible, m) {
						t.Fatalf("promises %d, seed %d: moment %d matches, and only %v are left", i, seed, m,
							possible)
					}
				}
			}
		}
	}
	t.Logf("%d of %d moments that are left match", right, left)
	if right < 1000 || left > right+right/10 {
		t.Errorf("%d of %d moments that are left match", right, left)
	}
}

// TestManyNames checks trees with many names, of an earlier moment and of none. Each takes minutes
// where the cost grows with the square of the names, or does not end within the bound of the
// search.
func TestManyNames(t *testing.T) {
	n := 110_000
	if testing.Short() {
		n = 20_000
	}
	made := func(n int) string {
		var b strings.Builder
		b.WriteString("mkdir /A")
		for i := range n {
			fmt.Fprintf(&b, "; creat /A/f%d", i)
		}
		return b.String()
	}
	for i, p := range []model.Promises{posix, journal, trees} {
		f, half := after(t, p, made(n)), after(t, p, made(n/2))
		s := half.Observed()
		if err := f.Allowed(s); err != nil {
			t.Errorf("promises %d: %v", i, err)
		}
		if got := f.Surprises(s); len(got) > 0 {
			t.Errorf("promises %d: %d surprises, such as %+v", i, len(got), got[0])
		}
		apply(t, f, script(t, "sync; rename /A /B; creat /foo; fsync /foo")...)
		if err := f.Allowed(f.Observed()); err != nil {
			t.Errorf("promises %d, after a rename: %v", i, err)
		}
		if got := f.Surprises(f.Observed()); len(got) > 0 {
			t.Errorf("promises %d, after a rename: %d surprises, such as %+v", i, len(got), got[0])
		}
		if f.Allowed(s) == nil {
			t.Errorf("promises %d: half of the files are gone after sync, and nothing is lost", i)
		}
	}
}
