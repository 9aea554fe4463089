package invariants_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"runtime"
	"testing"
	"time"

	"fsward/change"
	"fsward/invariants"
)

// measure returns the least time of some runs, and the allocations of one.
func measure(least time.Duration, f func()) (best time.Duration, allocs, bytes uint64) {
	f()
	best = math.MaxInt64
	var before, after runtime.MemStats
	runtime.GC()
	for start := time.Now(); time.Since(start) < least || allocs == 0; {
		runtime.ReadMemStats(&before)
		at := time.Now()
		f()
		best = min(best, time.Since(at))
		runtime.ReadMemStats(&after)
		allocs, bytes = after.Mallocs-before.Mallocs, after.TotalAlloc-before.TotalAlloc
		allocs = max(allocs, 1)
	}
	return best, allocs, bytes
}

// TestBenchTable prints the compiled engine beside hand-written Go, in one run: set FSWARD_BENCH=1. The table is
// kept in docs/BENCHMARKS.md.
func TestBenchTable(t *testing.T) {
	if os.Getenv("FSWARD_BENCH") == "" {
		t.Skip("set FSWARD_BENCH=1 to measure")
	}
	fmt.Printf("| transaction | records | compiled | hand-written Go | ratio | allocations/record | bytes/record |\n|---|---|---|---|---|---|---|\n")
	row := func(name string, txn *change.Txn, view change.View, violations int) time.Duration {
		e := compiledEngine(t, txn.Schema, thesisRules(t), invariants.Options{OpenVocabulary: true})
		n := len(txn.Records)
		least := 300 * time.Millisecond
		took, allocs, bytes := measure(least, func() {
			if v := e.Check(context.Background(), txn, view); len(v.Undecided) > 0 || violations > 0 && len(v.Violations) != violations {
				t.Fatalf("%s: %d violations, want %d; undecided %v", name, len(v.Violations), violations, v.Undecided)
			}
		})
		by, _, _ := measure(least, func() {
			hand := newHandwritten(txn, view)
			if found := hand.check(); hand.err != nil || len(found) < violations {
				t.Fatalf("%s: hand-written Go finds %d violations, want %d", name, len(found), violations)
			}
		})
		fmt.Printf("| %s | %d | %.2f ms | %.2f ms | %.2f | %.3f | %d |\n", name, n, ms(took), ms(by), float64(took)/float64(by),
			float64(allocs)/float64(n), bytes/uint64(n))
		return took
	}
	for _, name := range []string{"tree-1k", "tree-10k", "tree-41k", "flat-42k", "tree-284k", "flat-291k"} {
		f := loadFacts(t, sharedData(t, "rules", name+".pl.zst"))
		row(name, f.Txn, f.View, len(expected(t, sharedData(t, "rules", name+".expected.tsv"))))
		runtime.GC()
	}
	for _, flat := range []bool{false, true} {
		var x, y []float64
		name := map[bool]string{false: "generated tree", true: "generated flat"}[flat]
		for _, n := range []int{10_000, 50_000, 250_000, 1_000_000, 5_000_000} {
			g := generate(n, flat)
			took := row(name, g.txn, g, 0)
			x, y = append(x, math.Log(float64(len(g.txn.Records)))), append(y, math.Log(took.Seconds()))
			runtime.GC()
		}
		fmt.Printf("slope of %s: %.3f\n", name, slope(x, y))
	}
}

func ms(d time.Duration) float64 { return d.Seconds() * 1000 }

// slope is that of the line with the least squares.
func slope(x, y []float64) float64 {
	var sx, sy, sxx, sxy float64
	for i := range x {
		sx, sy, sxx, sxy = sx+x[i], sy+y[i], sxx+x[i]*x[i], sxy+x[i]*y[i]
	}
	n := float64(len(x))
	return (n*sxy - sx*sy) / (n*sxx - sx*sx)
}
