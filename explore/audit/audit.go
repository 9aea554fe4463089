// Package audit judges the crash states of a recorded disk: everything that a power failure could
// have left while a log of its writes was recorded. It needs no kernel and no guest. On request it
// also lets a function recover and check each state.
//
// Start reading at Run.
package audit

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"fsward/change"
	"fsward/explore/crash"
	"fsward/explore/oracle"
)

// A Config says what is audited.
type Config struct {
	Base   crash.Base // the disk before the logs; it is only read
	Logs   []string   // dm-log-writes logs of the disk; each continues the one before
	FS     string     // as for oracle.Maker.New
	Volume string     // "p2" or "vg/lv": audit this volume only; "": all volumes
	Crash  crash.Options
	Oracle oracle.Options
	// Check, if not nil, recovers and checks each state that the invariants hold in. It returns what
	// is wrong. States with equal contents are checked once.
	Check func(ctx context.Context, s *crash.State) (*Problem, error)
	// Found is called for each finding of a new kind, with the state that shows it. The state is
	// valid until Found returns.
	Found func(f *Finding, s *crash.State) error
	// Progress, if not nil, is called about once a second.
	Progress func(Totals)
}

// A Problem is something that is wrong with a crash state.
type Problem struct {
	Kind   string // by which findings are grouped: the rule, or what failed
	Text   string
	Volume string // "" for a whole disk
}

// A Finding is a kind of problem, with a crash state that shows it: the first such state, on which
// missing writes were put as long as it still shows the problem.
type Finding struct {
	Kind   string `json:"kind"`
	Volume string `json:"volume,omitempty"` // "" for a whole disk
	FS     string `json:"fs"`
	Text   string `json:"text"`
	Count  uint64 `json:"count"` // states that show it
	// State names the crash state, as crash.Form takes it.
	State string `json:"state"`
	// After is the last entry before the crash, and Mark the last mark; "" if there is none.
	After Place  `json:"after"`
	Mark  string `json:"mark,omitempty"`
	// Missing are the writes that are not on the disk and that no flush had made durable.
	Missing []Place `json:"missing,omitempty"`
}

// Totals count what an audit did.
type Totals struct {
	Entries   uint64  `json:"entries"`   // of the logs so far
	OfEntries uint64  `json:"of"`        // of all logs
	Points    int     `json:"points"`    // moments at which states were formed
	Sampled   int     `json:"sampled"`   // moments with too many states to form all
	Possible  float64 `json:"possible"`  // states of all moments
	States    uint64  `json:"states"`    // different states that were judged
	Pruned    uint64  `json:"pruned"`    // states that equal an earlier one, or take its verdict
	Violated  uint64  `json:"violated"`  // states with a finding
	Undecided uint64  `json:"undecided"` // states that could not be judged
	Checked   uint64  `json:"checked"`   // states that Check saw
	Seconds   float64 `json:"seconds"`
}

// A Summary is the result of an audit.
type Summary struct {
	Totals
	FS       string     `json:"fs"` // of the volumes that are audited, separated by commas
	Findings []*Finding `json:"findings"`
	// Volumes has the volumes of a disk with a table.
	Volumes []Volume `json:"volumes,omitempty"`
	// Reasons are the reasons for undecided states, each once, and at most maxReasons of them.
	Reasons []string `json:"reasons,omitempty"`
}

// Outcome returns the verdict about all states.
func (s *Summary) Outcome() change.Outcome {
	switch {
	case len(s.Findings) > 0:
		return change.Violated
	case s.Undecided > 0:
		return change.Undecided
	}
	return change.Holds
}

const (
	maxReasons  = 16
	maxFindings = 256 // kinds
	maxTries    = 256 // states, to minimize a finding
)

// An Auditor audits events as they come. It is for one goroutine.
type Auditor struct {
	Config
	place  func(at uint64) Place
	parts  []*part
	tables func(off, n uint64) bool // reports whether a write can change the volumes
	states *crash.Enumerator
	sum    *Summary
	began  time.Time
	shown  time.Time // when Progress was called
}

// New returns an auditor of the events after Config.Base. place returns the place of a position in
// the logs. The error wraps oracle.ErrUnsound if the file system is not sound in the base.
func New(ctx context.Context, cfg Config, place func(at uint64) Place) (*Auditor, error) {
	a := &Auditor{Config: cfg, place: place, began: time.Now(), sum: &Summary{}}
	return a, a.open(ctx)
}

// Run forms the crash states of logs at each flush and mark, and judges them. The error wraps
// oracle.ErrUnsound if the file system is not sound before the logs begin. If ctx ends, Run returns
// its error, with the summary so far.
func Run(ctx context.Context, cfg Config) (*Summary, error) {
	l, err := openLogs(cfg.Logs)
	if err != nil {
		return nil, err
	}
	cfg.Crash.ByMark = true
	a, err := New(ctx, cfg, l.place)
	if err != nil {
		return nil, err
	}
	a.sum.OfEntries = l.total
	for ev, err := range l.events() {
		if err == nil {
			err = a.Add(ctx, ev)
		}
		if err != nil {
			return a.Summary(), err
		}
	}
	err = a.Now(ctx)
	return a.Summary(), err
}

// Add takes the next event, and judges the states that arise before it.
func (a *Auditor) Add(ctx context.Context, ev crash.Event) error {
	a.sum.Entries = ev.At + 1
	if ev.Kind == crash.Issued && a.tables != nil && a.tables(ev.Write.Off, ev.Write.Len) {
		a.tablesWritten(a.place(ev.At))
	}
	if len(a.parts) == 0 {
		return a.states.Add(ev, nil)
	}
	return a.states.Add(ev, func(s *crash.State) error { return a.visit(ctx, s) })
}

// Now judges the states of this moment.
func (a *Auditor) Now(ctx context.Context) error {
	if len(a.parts) == 0 {
		return nil
	}
	return a.states.Now(func(s *crash.State) error { return a.visit(ctx, s) })
}

// Audits reports whether the states of a volume are judged. After a write to the table of volumes
// they are not.
func (a *Auditor) Audits() bool { return len(a.parts) > 0 }

// States returns the states that are formed.
func (a *Auditor) States() *crash.Enumerator { return a.states }

// Summary returns the result so far.
func (a *Auditor) Summary() *Summary {
	a.tick()
	return a.sum
}

// tick updates the totals.
func (a *Auditor) tick() {
	stats, t := a.states.Stats(), &a.sum.Totals
	t.Points, t.Sampled, t.Possible = stats.Points, stats.Sampled, stats.Possible
	t.Pruned = uint64(stats.Repeated)
	for _, p := range a.parts {
		t.Pruned += uint64(p.oracle.Stats().Pruned)
	}
	t.Seconds = time.Since(a.began).Seconds()
}

// visit judges a state, and has it checked.
func (a *Auditor) visit(ctx context.Context, s *crash.State) error {
	if a.Progress != nil && time.Since(a.shown) > time.Second {
		a.shown = time.Now()
		a.tick()
		a.Progress(a.sum.Totals)
	}
	a.sum.States++
	p, reasons, err := a.examine(ctx, s)
	switch {
	case err != nil:
		return err
	case p != nil:
		return a.found(ctx, s, *p)
	case len(reasons) > 0:
		a.undecided(reasons)
	}
	return nil
}

// examine returns what is wrong with a state, or the reasons why the invariants are undecided.
func (a *Auditor) examine(ctx context.Context, s *crash.State) (p *Problem, undecided []string,
	err error) {
	for _, part := range a.parts {
		v, err := part.oracle.Judge(ctx, s)
		if err != nil {
			return nil, nil, err
		}
		if v.Outcome == change.Violated {
			return &Problem{v.Kind(), v.String(), part.path}, nil, nil
		}
		undecided = append(undecided, v.Undecided...)
	}
	if a.Check != nil {
		a.sum.Checked++
		p, err = a.Check(ctx, s)
	}
	return p, undecided, err
}

// undecided counts a state that could not be judged, and keeps the reasons.
func (a *Auditor) undecided(reasons []string) {
	a.sum.Undecided++
	for _, r := range reasons {
		if len(a.sum.Reasons) < maxReasons && !slices.Contains(a.sum.Reasons, r) {
			a.sum.Reasons = append(a.sum.Reasons, r)
		}
	}
}

// found counts a problem. The first of its kind becomes a finding.
func (a *Auditor) found(ctx context.Context, s *crash.State, p Problem) error {
	a.sum.Violated++
	for _, f := range a.sum.Findings {
		if f.Kind == p.Kind && f.Volume == p.Volume {
			f.Count++
			return nil
		}
	}
	if len(a.sum.Findings) == maxFindings {
		return fmt.Errorf("more than %d kinds of findings", maxFindings)
	}
	s, p, err := a.minimize(ctx, s, p)
	if err != nil {
		return err
	}
	f := &Finding{Kind: p.Kind, Volume: p.Volume, FS: a.fsOf(p.Volume), Text: p.Text, Count: 1,
		State: s.ID(), After: a.place(s.At), Mark: s.Mark}
	for _, id := range s.Missing() {
		f.Missing = append(f.Missing, a.place(id))
	}
	a.sum.Findings = append(a.sum.Findings, f)
	if a.Found == nil {
		return nil
	}
	return a.Found(f, s)
}

// minimize puts missing writes on the disk, the first one first, while the problem shows.
func (a *Auditor) minimize(ctx context.Context, s *crash.State,
	p Problem) (*crash.State, Problem, error) {
	for i, write := range s.Missing() {
		if i == maxTries {
			break
		}
		t, err := s.Adding(write)
		if err != nil {
			return nil, p, err
		}
		q, _, err := a.examine(ctx, t)
		if err != nil {
			return nil, p, err
		}
		if q != nil && q.Kind == p.Kind && q.Volume == p.Volume {
			s, p = t, *q
		}
	}
	return s, p, nil
}

// Again forms the state of a finding again, and returns what is wrong with it: nil if nothing is.
// The configuration must be that of the audit that found it.
func Again(ctx context.Context, cfg Config, state string) (found *Problem, err error) {
	l, err := openLogs(cfg.Logs)
	if err != nil {
		return nil, err
	}
	cfg.Oracle.Whole = true
	cfg.Crash.ByMark = true
	a, err := New(ctx, cfg, l.place)
	if err != nil {
		return nil, err
	}
	err = crash.Form(cfg.Base, l.events(), cfg.Crash, state, func(s *crash.State) error {
		p, undecided, err := a.examine(ctx, s)
		if err == nil && p == nil && len(undecided) > 0 {
			err = fmt.Errorf("undecided: %s", strings.Join(undecided, "; "))
		}
		found = p
		return err
	})
	return found, err
}
