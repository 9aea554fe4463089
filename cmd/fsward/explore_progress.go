package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"fsward/explore"
	"fsward/hostd/output"
	"fsward/repair"
)

// exploreProgress prints the events of a run and its summary.
type exploreProgress struct {
	out, err io.Writer
	json     bool
	limit    time.Duration
	runs     uint64 // number of runs after which it ends; 0 for no limit
	// workloads is the number of workloads of a set that the run tests, one in each execution; 0: it
	// tests none.
	workloads uint64
	began     time.Time
	first     *explore.Totals // when this part of the run began
	last      time.Time
	crashes   uint64    // as last printed
	crashed   time.Time // when the last new crash state came
	crashedIn uint64    // runs that had ended then
	errors    int
	notices   map[string]int // how often each text was to be printed
}

// progressLine is the time between two lines of progress, for people.
const progressLine = 10 * time.Second

func (p *exploreProgress) event(e explore.Event) {
	if p.first == nil {
		t := e.Totals
		p.first = &t
	}
	if p.json {
		_ = output.NewLines(p.out, "").Print(e)
		return
	}
	switch e.Event {
	case "error", "surprise":
		what := "surprise"
		if e.Event == "error" {
			p.errors++
			what = "found"
		}
		fmt.Fprintf(p.out, "%s: %s (%s; %s)\n  %s\n", what, e.Error.Kind, e.Error.Dir,
			e.Error.Replayed(), strings.ReplaceAll(e.Error.Summary, "\n", "\n  "))
	case "diverged", "strayed", "coverage":
		p.notice(e.Event + ": " + e.Text)
	case "unjudged":
		p.notice("not judged: " + e.Text)
	case "progress":
		if time.Since(p.last) < progressLine {
			return
		}
		p.last = time.Now()
		if e.CrashStates != p.crashes || p.crashed.IsZero() {
			p.crashes, p.crashed, p.crashedIn = e.CrashStates, time.Now(), e.Runs
		}
		took := time.Since(p.began)
		rate := float64(e.CrashStates-p.first.CrashStates) / max(took.Seconds(), 1e-9)
		fmt.Fprintf(p.err, "%6.0fs  %s, %d waiting, depth %d; %s; %s (%.1f/s)%s%s, "+
			"%d pruned%s; %s; %s%s%s\n",
			took.Seconds(), repair.Count(e.States, "state"), e.Waiting, e.Depth,
			repair.Count(e.Runs, "run"), repair.Count(e.CrashStates, "crash state"), rate, early(e.Totals),
			processCrashes(e.Totals)+unjudged(e.Totals), e.Pruned, covered(e.Totals),
			repair.Count(p.errors, "error"),
			p.estimate(e.Totals, took), available(e), p.quiet(e.Runs))
	}
}

// notice prints a text at its first, tenth, hundredth … time.
func (p *exploreProgress) notice(line string) {
	if p.notices == nil {
		p.notices = make(map[string]int)
	}
	p.notices[line]++
	switch n := p.notices[line]; n {
	case 1:
		fmt.Fprintln(p.err, line)
	case 10, 100, 1000, 10000:
		fmt.Fprintf(p.err, "%s (%d times)\n", line, n)
	}
}

// say prints a line for people.
func (p *exploreProgress) say(text string) {
	if !p.json {
		fmt.Fprintln(p.err, text)
	}
}

// ifAny formats a number; "": it is 0.
func ifAny(format string, n uint64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(format, n)
}

// ifCounted formats a number with its noun, as repair.Count gives both; "": it is 0.
func ifCounted(format string, n uint64, noun string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(format, repair.Count(n, noun))
}

// surprised says how many surprises a run found, if any.
func surprised(sum *explore.Summary) string {
	return ifCounted(" and %s", uint64(len(sum.Errors)-sum.Broken()), "surprise")
}

// sampled says how many moments had more crash states than were tried, if any.
func sampled(t explore.Totals) string {
	return ifCounted(" (%s sampled)", t.Sampled, "moment")
}

// early says how many crash states have blocks that had not been submitted, if any.
func early(t explore.Totals) string {
	return ifAny(", %d of them with blocks written early", t.Early)
}

// cutShort says how many crash states were examined in steps that did not end, if any.
func cutShort(t explore.Totals) string {
	return ifAny(" and %d in a step that was cut short", t.CutShort)
}

// processCrashes says how many process crashes were tried, if any.
func processCrashes(t explore.Totals) string {
	return ifCounted(", %s", t.ProcessCrashes, "process crash")
}

// mountFaults says how many calls inside the kernel failed in a mount before a recovery, if any.
func mountFaults(t explore.Totals) string {
	return ifCounted(", %s that failed in a mount before the recovery", t.MountFaults, "call")
}

// unjudged says how many crash states and steps were not judged, if any.
func unjudged(t explore.Totals) string {
	return ifAny(", %d not judged", t.Unjudged)
}

// familiar says how many states have features that earlier ones had, if the search looks at them.
func familiar(t explore.Totals) string {
	return ifAny(" (%d with features of earlier ones)", t.Familiar)
}

// covered says how many edges of the kernel's code were reached, if they are recorded.
func covered(t explore.Totals) string {
	return ifCounted("; %s of kernel code", t.Edges, "edge")
}

// committed says how many recovered trees were compared with the last commit, if any could be.
func committed(t explore.Totals) string {
	if t.CommitKnown+t.CommitUnknown == 0 {
		return ""
	}
	text := fmt.Sprintf(", %s compared with the last commit", repair.Count(t.CommitKnown, "tree"))
	if t.CommitUnknown > 0 {
		text += fmt.Sprintf(" (and %d not, since it cannot be read)", t.CommitUnknown)
	}
	text += fmt.Sprintf(", with the contents of %s", repair.Count(t.CommitContents, "file"))
	if t.CommitUnread > 0 {
		text += fmt.Sprintf(" (and not of %d)", t.CommitUnread)
	}
	if t.CommitLogged > 0 {
		text += fmt.Sprintf("; %s left out, which a log may change",
			repair.Count(t.CommitLogged, "entry"))
	}
	return text
}

// available says how much memory the guest has left, if it reported that.
func available(e explore.Event) string {
	if e.Available == 0 {
		return ""
	}
	return fmt.Sprintf("; the guest has %d MiB left", e.Available>>20)
}

// quiet says that nothing can be found at present, and why. In the middle of one long step it says
// nothing.
func (p *exploreProgress) quiet(runs uint64) string {
	if since := time.Since(p.crashed); since > 2*progressLine && runs > p.crashedIn {
		return fmt.Sprintf("; for %v no step asked for a crash that was not tried before",
			since.Round(time.Second))
	}
	return ""
}

// estimate says how long the states that wait now will take at the pace so far, or how much time is
// left.
func (p *exploreProgress) estimate(t explore.Totals, took time.Duration) string {
	runs := t.Runs - p.first.Runs
	if p.workloads > 0 && runs > 0 {
		left := time.Duration(float64(p.workloads-min(t.Runs, p.workloads)) / float64(runs) *
			float64(took))
		return fmt.Sprintf("%d of %d workloads, the rest needs %v", t.Runs, p.workloads,
			left.Round(time.Second))
	}
	// Steps with faults wait, too, and are no states.
	if expanded := t.States - min(t.States, t.Waiting); runs > 0 && expanded > 0 {
		left := time.Duration(
			float64(t.Waiting) * float64(t.Runs) / float64(expanded) / float64(runs) * float64(took),
		)
		if p.limit == 0 || left < p.limit-took {
			return fmt.Sprintf("waiting states need %v", left.Round(time.Second))
		}
	}
	if p.limit == 0 {
		return "no estimate yet"
	}
	return fmt.Sprintf("%v left", (p.limit - took).Round(time.Second))
}

// explored prints the summary of a run.
func (p *exploreProgress) explored(sum explore.Summary, dir string) {
	verdict, reason := exploredVerdict(&sum)
	if reason != "" {
		fmt.Fprintf(p.err, "%s: undecided: %s\n", dir, reason)
	}
	if !p.json {
		how := "time is up"
		switch {
		case sum.Complete && sum.Sampled == 0:
			how = "everything is explored"
		case sum.Waiting == 0:
			how = "everything else is explored"
		case p.runs > 0 && sum.Runs >= p.runs:
			how = "its runs are done"
		}
		fmt.Fprintf(p.out, "%s%s, %s%s%s%s%s%s%s%s, %s%s in %.0f s; %s\n",
			repair.Count(sum.States, "state"), familiar(sum.Totals),
			repair.Count(sum.CrashStates, "crash state"), sampled(sum.Totals), early(sum.Totals),
			cutShort(sum.Totals), processCrashes(sum.Totals)+mountFaults(sum.Totals), unjudged(sum.Totals),
			committed(sum.Totals), covered(sum.Totals), repair.Count(sum.Broken(), "error"),
			surprised(&sum), sum.Seconds, how)
		for _, e := range sum.Errors {
			fmt.Fprintf(p.out, "  %s, %s: %s\n", e.Kind, repair.Count(e.Count, "time"), e.ReplayCommand(dir))
		}
		return
	}
	type found struct {
		Kind     string `json:"kind"`
		Surprise bool   `json:"surprise,omitempty"`
		Dir      string `json:"dir"`
		Summary  string `json:"summary"`
		Count    uint64 `json:"count"`
	}
	line := struct {
		Event string `json:"event"`
		explore.Totals
		Verdict string `json:"verdict"`
		// Reason says why the verdict is undecided.
		Reason   string  `json:"reason,omitempty"`
		Complete bool    `json:"complete"`
		Errors   []found `json:"errors"`
	}{Event: "explored", Totals: sum.Totals, Verdict: verdict.String(), Reason: reason,
		Complete: sum.Complete, Errors: []found{}}
	for _, e := range sum.Errors {
		line.Errors = append(line.Errors, found{e.Kind, e.Surprise,
			filepath.Join(dir, e.Dir), e.Summary, e.Count})
	}
	_ = output.NewLines(p.out, "").Print(line)
}
