//go:build bench

package invariants_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"fsward/change"
	"fsward/invariants"
	"fsward/invariants/facts"
	"fsward/shareddata"
)

// TestBenchTable prints the tables of the rule engine in docs/results/benchmarks.md, in one run.
func TestBenchTable(t *testing.T) {
	fmt.Printf(
		"%s, %d × %s, %s. Times are of the CPU, all threads together, the least of several runs.\n\n",
		time.Now().Format(time.DateOnly),
		runtime.NumCPU(), cpuModel(), runtime.Version())
	shared := []string{"tree-1k", "tree-10k", "tree-41k", "flat-42k", "tree-284k", "flat-291k"}
	compiled := benchHandwritten(t, shared)
	benchShipped(t, shared[2:])
	benchProlog(t, compiled, "tree-1k", "tree-10k", "tree-41k", "tree-284k")
}

// benchHandwritten measures the rules of the thesis against Go code, and returns the times of the
// compiled engine. One Go version does what the engine does, including the text of violations;
// another only finds the objects. See TestHandwritten.
func benchHandwritten(t *testing.T, shared []string) map[string]time.Duration {
	fmt.Print(
		"Rules 6, 12 and 17 of the thesis, " +
			"beside the same rules written in Go over the same records and view:\n\n")
	table := newTable("records", "compiled", "Go, reports", "ratio", "Go, objects", "ratio",
		"allocations/record", "bytes/record", "first check")
	out := map[string]time.Duration{}
	var all [3]time.Duration
	measure := func(contests ...*contest) {
		timeContests(contests)
		for _, c := range contests {
			c.row(table)
			for i := range all {
				all[i] += c.took[i]
			}
		}
		runtime.GC()
	}
	for _, name := range shared {
		f := loadFacts(t, shareddata.Path(t, "rules", name+".pl.zst"))
		c := newContest(t, name, f.Txn, f.View,
			len(expected(t, shareddata.Path(t, "rules", name+".expected.tsv"))))
		measure(c)
		out[name] = c.took[0]
	}
	var slopes []string
	for _, flat := range []bool{false, true} {
		name := map[bool]string{false: "generated, tree", true: "generated, flat"}[flat]
		var contests []*contest
		for _, n := range []int{10_000, 50_000, 250_000, 1_000_000, 5_000_000} {
			g := generate(n, flat)
			contests = append(contests, newContest(t, name, g.txn, g, 0))
		}
		// Sizes are interleaved, so that noise from neighbors does not bias the slope.
		measure(contests...)
		slopes = append(slopes, fmt.Sprintf("%s %.3f (hand-written %.3f)", name, slope(contests, 0),
			slope(contests, 2)))
	}
	fmt.Printf(
		"\n- all of these together: %.2f times the time of Go that reports, "+
			"%.2f times that of Go that finds the objects\n"+
			"- slope, log of time over log of records: %s\n\n", float64(all[0])/float64(all[1]),
		float64(all[0])/float64(all[2]), strings.Join(slopes, "; "))
	return out
}

// A contest compares the compiled engine with handwritten Go on one transaction.
type contest struct {
	name    string
	records int
	// bytes allocated by the first check; allocations and bytes of a later one
	first, allocs, bytes int
	check                [3]func()
	// of each check: the engine, Go that reports, Go that finds objects
	took [3]time.Duration
}

func newContest(t *testing.T, name string, txn *change.Txn, view change.View,
	violations int) *contest {
	e := compiledEngine(t, txn.Schema, thesisRules(t), invariants.Options{OpenVocabulary: true})
	check := func() {
		if v := e.Check(context.Background(), txn, view); len(v.Undecided) > 0 ||
			violations > 0 && len(v.Violations) != violations {
			t.Fatalf("%s: %d violations, want %d; undecided %v", name, len(v.Violations), violations,
				v.Undecided)
		}
	}
	rules := e.Rules()
	find := func() *handwritten {
		hand := newHandwritten(txn, view)
		if found := hand.check(); hand.err != nil || len(found) < violations {
			t.Fatalf("%s: hand-written Go finds %d violations, want %d", name, len(found), violations)
		}
		return hand
	}
	c := &contest{name: name, records: len(txn.Records),
		check: [3]func(){check, func() { find().report(rules) }, func() { find() }}}
	_, c.first = allocated(check)
	c.allocs, c.bytes = allocated(check)
	return c
}

// timeContests measures contests; the checks of all of them are interleaved.
func timeContests(contests []*contest) {
	var checks []func()
	for _, c := range contests {
		checks = append(checks, c.check[:]...)
	}
	times := cpuTimes(checks...)
	for i, c := range contests {
		c.took = [3]time.Duration(times[3*i:])
	}
}

func (c *contest) row(table *table) {
	ratio := func(to time.Duration) string {
		return fmt.Sprintf("%.2f",
			float64(c.took[0])/float64(to))
	}
	n := c.records
	table.row(c.name, n, ms(c.took[0]), ms(c.took[1]), ratio(c.took[1]), ms(c.took[2]),
		ratio(c.took[2]),
		fmt.Sprintf("%.3f", float64(c.allocs)/float64(n)), c.bytes/n, c.first/n)
}

// benchShipped compares all rules of Btrfs with the reference engine. The transactions were made
// for three of the rules and lack what others need, so many rules are violated, up to a thousand
// times each.
func benchShipped(t *testing.T, names []string) {
	files, err := invariants.Builtin("btrfs")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Print(
		"All rules of Btrfs that are shipped, on transactions that were made for three of them, " +
			"beside the reference engine:\n\n")
	table := newTable("records", "rules", "violations", "compiled", "reference", "ratio",
		"allocations/record", "bytes/record")
	var costs []invariants.Timing
	for _, name := range names {
		f := loadFacts(t, shareddata.Path(t, "rules", name+".pl.zst"))
		e := compiledEngine(t, f.Txn.Schema, files, invariants.Options{OpenVocabulary: true})
		found := 0
		check := func() { found = len(e.Check(context.Background(), f.Txn, f.View).Violations) }
		check()
		allocs, bytes := allocated(check)
		took, n := cpuTimes(check)[0], len(f.Txn.Records)
		by := referenceTime(t, f, files, func(v invariants.Verdict) {
			if len(v.Violations) != found {
				t.Errorf("%s: the reference engine finds %d violations, the compiled one %d", name,
					len(v.Violations), found)
			}
		})
		table.row(name, n, len(e.Rules()), found, ms(took), ms(by), times(by, took),
			fmt.Sprintf("%.3f", float64(allocs)/float64(n)), bytes/n)
		if name == "tree-41k" {
			costs = ruleTimes(e, check)
		}
	}
	slices.SortFunc(costs, func(a, b invariants.Timing) int { return int(b.Last - a.Last) })
	var text []string
	for _, c := range costs[:min(10, len(costs))] {
		text = append(text, c.Rule+" "+ms(c.Last))
	}
	fmt.Printf(
		"\nThe rules that cost most on tree-41k, as `fsward rules list --timing` shows them: %s.\n\n",
		strings.Join(text, ", "))
}

// referenceTime returns the CPU time of one run of the reference engine. judge checks its verdict.
func referenceTime(t *testing.T, f *facts.Facts, files []invariants.File,
	judge func(v invariants.Verdict)) time.Duration {
	e, err := invariants.NewReference(f.Txn.Schema, files,
		invariants.Options{OpenVocabulary: true, Steps: 1 << 60})
	if err != nil {
		t.Fatal(err)
	}
	start := cpuTime()
	v := e.Check(context.Background(), f.Txn, f.View)
	took := cpuTime() - start
	judge(v)
	return took
}

// ruleTimes returns the least time of each rule in several runs.
func ruleTimes(e *invariants.Compiled, check func()) []invariants.Timing {
	least := e.Timing()
	for range 20 {
		check()
		for i, now := range e.Timing() {
			least[i].Last = min(least[i].Last, now.Last)
		}
	}
	return least
}

// benchProlog measures two engines that search as Prolog does, with the rules as printed:
// SWI-Prolog, without loading the facts, and the reference engine.
func benchProlog(t *testing.T, compiled map[string]time.Duration, names ...string) {
	version, err := exec.Command("swipl", "--version").Output()
	if err != nil {
		t.Fatalf("swipl is missing: install the Debian package swi-prolog-nox (%v)", err)
	}
	fmt.Printf(
		"The same rules in %s, and in the reference engine, as printed, "+
			"without the time in which facts are loaded:\n\n", strings.TrimSpace(string(version)))
	table := newTable("compiled", "SWI-Prolog", "ratio", "reference", "ratio")
	for _, name := range names {
		want := expected(t, shareddata.Path(t, "rules", name+".expected.tsv"))
		f := loadFacts(t, shareddata.Path(t, "rules", name+".pl.zst"))
		reference := referenceTime(t, f, thesisRules(t), func(v invariants.Verdict) {
			if got := lines(v.Violations); !slices.Equal(got, want) {
				t.Errorf("%s: the reference engine finds %v, want %v", name, got, want)
			}
		})
		swi := prologTime(t, name, want)
		table.row(name, ms(compiled[name]), ms(swi), times(swi, compiled[name]), ms(reference),
			times(reference, compiled[name]))
	}
}

// prologTime returns the CPU time of SWI-Prolog, and checks its answers.
func prologTime(t *testing.T, name string, want []string) time.Duration {
	const timed = "consult([facts,thesis]),statistics(cputime,A),answers,statistics(cputime,B)," +
		"C is B-A,format(user_error,'seconds ~w~n',[C])"
	// four minutes on a quiet machine
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Minute)
	defer cancel()
	answers, said := runProlog(ctx, t, name, timed)
	if !slices.Equal(answers, want) {
		t.Fatalf("%s: SWI-Prolog finds %v, want %v", name, answers, want)
	}
	_, seconds, _ := strings.Cut(said, "seconds ")
	took, err := strconv.ParseFloat(strings.TrimSpace(seconds), 64)
	if err != nil {
		t.Fatalf("swipl: %v\n%s", err, said)
	}
	return time.Duration(took * float64(time.Second))
}

// cpuModel returns the name of the processor.
func cpuModel() string {
	text, _ := os.ReadFile(filepath.Join("/proc", "cpuinfo"))
	_, model, _ := strings.Cut(string(text), "model name\t: ")
	model, _, _ = strings.Cut(model, "\n")
	return model
}

// allocated returns the allocations of one run.
func allocated(f func()) (allocs, bytes int) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.Mallocs - before.Mallocs), int(after.TotalAlloc - before.TotalAlloc)
}

// cpuTimes returns the least CPU time of a run of each function. The runs are interleaved, so that
// other load affects all functions. There are at least thirty rounds, so that long runs also meet a
// quiet moment.
func cpuTimes(functions ...func()) []time.Duration {
	const least, enough, often = 2 * time.Millisecond, 1500 * time.Millisecond, 30
	best := make([]time.Duration, len(functions))
	for start, rounds := time.Now(), 0; rounds < often || time.Since(start) < enough; rounds++ {
		for i, f := range functions {
			runs, took := 0, time.Duration(0)
			for at := cpuTime(); took < least; took = cpuTime() - at {
				f()
				runs++
			}
			if took /= time.Duration(runs); rounds == 0 || took < best[i] {
				best[i] = took
			}
		}
	}
	return best
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f ms", d.Seconds()*1000) }

// times returns the ratio of two durations.
func times(d, other time.Duration) string {
	return fmt.Sprintf("%.0f", d.Seconds()/other.Seconds())
}

// A table is printed row by row, as each is measured, in Markdown that people can read.
type table struct{ widths []int }

// newTable prints the head of a table; its first column names the transaction.
func newTable(columns ...string) *table {
	t := &table{widths: []int{len("generated, tree")}}
	head, rule := fmt.Sprintf("| %-*s |", t.widths[0], "transaction"),
		"|"+strings.Repeat("-", t.widths[0]+2)+"|"
	for _, c := range columns {
		w := max(len(c), len("123456.78 ms"))
		t.widths = append(t.widths, w)
		head += fmt.Sprintf(" %*s |", w, c)
		rule += strings.Repeat("-", w+1) + ":|"
	}
	fmt.Println(head + "\n" + rule)
	return t
}

func (t *table) row(name string, values ...any) {
	line := fmt.Sprintf("| %-*s |", t.widths[0], name)
	for i, v := range values {
		line += fmt.Sprintf(" %*v |", t.widths[i+1], v)
	}
	fmt.Println(line)
}

// slope returns the least-squares slope of the logarithm of the time of a check over the logarithm
// of records.
func slope(contests []*contest, check int) float64 {
	var sx, sy, sxx, sxy float64
	for _, c := range contests {
		x, y := math.Log(float64(c.records)), math.Log(c.took[check].Seconds())
		sx, sy, sxx, sxy = sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	n := float64(len(contests))
	return (n*sxy - sx*sy) / (n*sxx - sx*sx)
}
