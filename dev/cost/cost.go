// Package cost measures what the guard spends on a load: on its commits while a kernel makes them
// (Guarded), when their log is replayed (Replay), and on the check of the image that they leave
// (Check). Start reading at Guarded.
package cost

import (
	"context"
	"math"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"fsward/change"
	"fsward/dev/load"
	"fsward/hostd/guard"
	"fsward/hostd/memory"
	"fsward/hostd/offline"
	"fsward/interp/detect"
)

// A Live is what was measured while the kernel made the commits, log commits included.
type Live struct {
	Records int           // of the commit that was held longest
	Held    time.Duration // of that commit
	Commits int
	// CPU is the processor time of the process, the transport of data included, and Judged has the
	// records of all commits: a busy machine makes Held longer, but not CPU.
	CPU     time.Duration
	Judged  int
	RSS     int64  // peak of the process, KiB
	Verdict string // the worst of all commits
	Alarms  string // the first events that do not hold, as text
}

// Guarded runs a load on images under a guard with limits of memory that refuses nothing. It writes
// a log of the requests to the path log, unless it is "".
func Guarded(ctx context.Context, run load.Run, images []string, log string,
	limits memory.Limits) (Live, error) {
	memory.SetLimit(limits.Total(len(images)))
	worst := &slowest{verdict: change.Holds}
	var began time.Duration
	run.Ready = func() { began = cpu() }
	cfg := guard.Config{FS: detect.Auto,
		Policies: guard.Policies{OnViolation: guard.OnLog}, Sinks: []guard.Sink{worst},
		Record: log, Memory: limits}
	for _, image := range images {
		spec, err := guard.ParseDiskSpec(image)
		if err != nil {
			return Live{}, err
		}
		cfg.Disks = append(cfg.Disks, spec)
	}
	ResetPeak()
	_, err := run.Guarded(ctx, cfg, zap.NewNop())
	live := worst.live()
	live.CPU = cpu() - began
	return live, err
}

// slowest is a guard.Sink that keeps the commit that was held longest, and the worst verdict.
type slowest struct {
	mu      sync.Mutex
	records int
	held    time.Duration
	commits int
	judged  int
	verdict change.Outcome
	alarms  strings.Builder
	noted   int
}

// Event notes an event.
func (s *slowest) Event(ev *guard.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.judged += ev.Records
	if ev.Kind == guard.KindCommit || ev.Kind == guard.KindLogCommit {
		s.commits++
		if held := time.Duration(ev.CheckNS); held > s.held {
			s.records, s.held = ev.Records, held
		}
	}
	if ev.Outcome == change.Holds {
		return
	}
	s.verdict = worse(s.verdict, ev.Outcome)
	if s.noted++; s.noted <= 3 {
		guard.NewTextReport(&s.alarms).Event(ev)
	}
}

func (s *slowest) live() Live {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Live{Records: s.records, Held: s.held, Commits: s.commits,
		Judged: s.judged, RSS: Peak(), Verdict: s.verdict.String(), Alarms: s.alarms.String()}
}

// worse returns the worse of two outcomes: a violation is worse than no decision.
func worse(a, b change.Outcome) change.Outcome {
	if a == change.Violated || b == change.Holds {
		return a
	}
	return b
}

// Spent is the processor time of the guard for some commits, or for a whole image.
type Spent struct {
	Records int
	Commits int
	CPU     time.Duration
	// Parts has the real time of each rule and of the interpretation, added up over all events. Rows
	// has the number of records and objects that each rule visited, which does not depend on what else
	// the machine does.
	Parts   map[string]time.Duration
	Rows    map[string]int64
	RSS     int64 // peak of the process, KiB
	Verdict string
}

// Interpretation is the part of the time before any rule runs.
const Interpretation = "interpretation"

// Replay replays the log of one disk several times within limits of memory, and returns the least
// time of each part.
func Replay(ctx context.Context, fs, base, log string, limits memory.Limits,
	times int) (Spent, error) {
	return least(times, func(m *meter) error {
		_, err := offline.Replay(ctx, offline.ReplayConfig{
			Disks: []offline.ReplayDisk{{Base: base, Log: log}}, FS: fs, KeepGoing: true,
			Memory: limits,
			Rules:  guard.RulesConfig{Timing: true}, Sinks: []guard.Sink{m}}, zap.NewNop())
		return err
	})
}

// Check checks an image several times with bytes of memory (0: the default), and returns the least
// time of each part.
func Check(ctx context.Context, images []string, bytes uint64, times int) (Spent, error) {
	return least(times, func(m *meter) error {
		ev, err := offline.Check(ctx, images, detect.Auto,
			guard.RulesConfig{Timing: true, Memory: bytes})
		if err == nil {
			m.Event(ev)
		}
		return err
	})
}

// least measures f several times.
func least(times int, f func(*meter) error) (best Spent, err error) {
	ResetPeak()
	for i := range times {
		m := &meter{Spent: Spent{Parts: make(map[string]time.Duration),
			Rows: make(map[string]int64)}, verdict: change.Holds,
			began: cpu()}
		if err := f(m); err != nil {
			return best, err
		}
		m.CPU, m.RSS, m.Verdict = cpu()-m.began, Peak(), m.verdict.String()
		if i == 0 {
			best = m.Spent
			continue
		}
		best.CPU = min(best.CPU, m.CPU)
		for part, took := range m.Parts {
			best.Parts[part] = min(best.Parts[part], took)
		}
	}
	return best, nil
}

// A meter is a guard.Sink that adds up times.
type meter struct {
	Spent
	verdict change.Outcome
	began   time.Duration
	seen    bool // an event
}

// few is a number of records that take no time: the first commit of a mount has fewer.
const few = 100

// Event adds the times of an event.
func (m *meter) Event(ev *guard.Event) {
	if !m.seen && ev.Records < few {
		m.began = cpu() // without the loading of the rules
	}
	m.seen = true
	m.Records += ev.Records
	if ev.Kind == guard.KindCommit || ev.Kind == guard.KindLogCommit {
		m.Commits++
	}
	m.verdict = worse(m.verdict, ev.Outcome)
	m.Parts[Interpretation] += time.Duration(ev.InterpNS)
	for _, t := range ev.RuleTimes {
		m.Parts["rule "+t.Rule] += time.Duration(t.NS)
		m.Rows["rule "+t.Rule] += t.Rows
	}
}

// Slope returns the slope of a straight line through the logarithms of points, by least squares.
func Slope(x, y []float64) float64 {
	var mx, my, xy, xx float64
	n := float64(len(x))
	for i := range x {
		mx, my = mx+math.Log(x[i])/n, my+math.Log(y[i])/n
	}
	for i := range x {
		dx := math.Log(x[i]) - mx
		xy, xx = xy+dx*(math.Log(y[i])-my), xx+dx*dx
	}
	return xy / xx
}
