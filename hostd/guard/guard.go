// Package guard stands between a guest and its disks. A Guard gives each write of one disk to the
// interpreter of its file system, has the rules check what changed, and lets a policy decide
// whether the write reaches the disk. Disks guards all disks of one guest; Pipeline does so for
// recorded writes. Start reading at Guard.Handle.
package guard

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"fsward/blocktap"
	"fsward/blocktap/overlay"
	"fsward/change"
	"fsward/interp"
)

// A Guard stands between a guest and one disk: it is the hook of the disk's device. The guards of
// several disks share an interpreter, and their devices take turns.
type Guard struct {
	name   string
	disk   int      // index among the disks of the interpreter
	peers  []*Guard // guards of all these disks in their order; nil if there is one disk
	interp interp.Interpreter
	rules  *Rules
	policy Policy
	sinks  []Sink
	bug    *Simulator // nil: no bug is simulated
	log    *zap.Logger

	witness  Witness       // sees what is done to the disk; may be nil
	base     overlay.Base  // the disk itself
	requests func() uint64 // returns the number of requests of the guest so far
	// is called when a state becomes the baseline without a check; may be nil
	unjudged func(disk int)
	// is called when an undecided write is on the disk; may be nil
	undecided func(disk int, ev *Event)
	volume    atomic.Pointer[unverified] // nil: no undecided commit awaits its check
	work      *change.WorkBudget         // of the interpreter; may be nil
	judging   *judgmentWatch             // may be nil
	snapshot  atomic.Pointer[snapshot]   // the state that a baseline check reads; nil: none runs

	flushed       atomic.Uint64 // sequence number of the last write that the guest has flushed
	flushReported uint64        // the one that the interpreter knows
	// the check of a commit that has not come yet; nil if there is none. The guards of several disks
	// share the rules, and the first of them has the check: see shared.
	speculative *speculativeCheck
}

// shared returns the guard that has the speculative check.
func (g *Guard) shared() *Guard {
	if len(g.peers) > 0 {
		return g.peers[0]
	}
	return g
}

// Flushed notes the last write that is flushed. The interpreter learns it with the next write.
func (g *Guard) Flushed(seq uint64) { g.flushed.Store(seq) }

func (g *Guard) reportFlushed() {
	if seq := g.flushed.Load(); seq != g.flushReported {
		g.flushReported = seq
		g.interp.Flushed(g.disk, seq)
	}
}

// Handle is the flow of fsward: interpret the write, check what changed, decide, then perform or
// refuse the write. The device calls it for one write at a time, in order. It returns the policy's
// refusal or the error of do.
func (g *Guard) Handle(ctx context.Context, r *blocktap.Request, do func() error) error {
	w := WriteOf(r)
	w.Off = interp.Address(g.disk, w.Off)
	g.bug.alter(w, g.log)

	if f := g.snapshot.Load(); f != nil {
		f.keep(w)
	}
	g.reportFlushed()
	for _, p := range g.peers {
		p.reportFlushed()
	}
	g.judging.of(g)
	start := time.Now()
	obs := g.interp.Observe(w)
	observed := time.Since(start)
	if ordinary(obs) {
		err := do()
		g.interp.Settle(err == nil)
		return err
	}

	// The verdict does not depend on whether the connection is still there that the write came by.
	// The work is bounded, and the disk holds what the log of a recording says.
	judging := context.WithoutCancel(ctx)
	early := g.matchingCheck(judging, obs.Txn)
	ev := checkObservation(judging, g.rules, g.interp.FS(), obs, early)
	g.work.Current().End()
	ev.Disk = g.name
	place(ev, g.disk, func(i int) string { return g.peers[i].name })
	ev.InterpNS, ev.CheckNS = observed.Nanoseconds(), time.Since(start).Nanoseconds()
	if early != nil {
		ev.AheadNS = start.Sub(early.began).Nanoseconds()
	}

	err := g.policy.Decide(ctx, ev)
	if err == nil {
		err = do()
	}
	g.interp.Settle(err == nil)
	if obs.Baseline && err == nil && g.unjudged != nil {
		g.unjudged(g.disk)
	}
	g.bug.settle(obs.Point)
	if ev.Outcome == change.Undecided && err == nil && g.undecided != nil {
		g.undecided(g.disk, ev)
	}

	ev.settle(err)
	if err != nil && g.witness != nil {
		g.witness.Refused()
	}
	g.report(ev)
	return err
}

// place turns the interpreter's addresses of violations into addresses on disks. It names the disk
// of an address if that is not the event's own disk.
func place(ev *Event, own int, name func(disk int) string) {
	ev.Violations = slices.Clone(ev.Violations) // the slice belongs to the interpreter
	for i := range ev.Violations {
		v := &ev.Violations[i]
		if !v.HasAddr {
			continue
		}
		var disk int
		if disk, v.Addr = interp.Locate(v.Addr); disk != own {
			v.Disk = name(disk)
		}
	}
}

// checkObservation turns an observation into an event with a verdict. Violations of structure come
// first: rules check only what is well formed. early is the speculative check of the transaction,
// or nil.
func checkObservation(ctx context.Context, rules *Rules, fs string, obs interp.Observation,
	early *speculativeCheck) *Event {
	ev := &Event{FS: fs, Kind: kindOf(obs), Generation: obs.Generation, Note: obs.Note}
	switch {
	case len(obs.Violations) > 0:
		ev.Outcome, ev.Violations = change.Violated, obs.Violations
	case obs.Unknown != nil:
		ev.Outcome, ev.Undecided = change.Undecided, []string{obs.Unknown.Error()}
	default:
		ev.checkRules(ctx, rules, obs, early)
	}
	return ev
}

// checkRules checks the parts of an observation by the rules and adds their verdicts to the event.
func (ev *Event) checkRules(ctx context.Context, rules *Rules, obs interp.Observation,
	early *speculativeCheck) {
	ev.Outcome = change.Holds
	if obs.Stream != nil {
		ev.add(rules.CheckStream(ctx, ev.FS, obs.Stream, obs.View))
		ev.Records += obs.Stream.Len()
		if commit, ok := obs.Stream.(change.Finder); ok {
			ev.Steps = commit.Work().Spent()
		}
		ev.RuleTimes = rules.times(ev.FS)
	}
	parts := obs.Logs
	if obs.Txn != nil {
		parts = append([]interp.Part{{Txn: obs.Txn, View: obs.View}}, parts...)
	}
	for _, p := range parts {
		if early != nil && p.Txn == obs.Txn {
			ev.add(early.verdict)
		} else {
			ev.add(rules.Check(ctx, p.Txn, p.View))
		}
		ev.Records += len(p.Txn.Records)
		ev.Steps = p.Txn.Work.Spent()
		ev.RuleTimes = rules.times(ev.FS)
	}
}

// CheckImage turns an observation of a whole state into an event with a verdict. name returns the
// name of a disk of the file system.
func CheckImage(
	ctx context.Context,
	rules *Rules,
	fs string,
	obs interp.Observation,
	name func(disk int) string,
) *Event {
	ev := checkObservation(ctx, rules, fs, obs, nil)
	ev.Kind = KindImage
	place(ev, 0, name)
	return ev
}

// ordinary reports whether there is nothing to say about a write. That holds for most writes.
func ordinary(obs interp.Observation) bool {
	return obs.Point == interp.NoPoint && len(obs.Violations) == 0 && obs.Unknown == nil &&
		obs.Note == ""
}

func (g *Guard) report(ev *Event) {
	g.volume.Load().mark(ev)
	for _, s := range g.sinks {
		s.Event(ev)
	}
}

// attached reports the file system that the guard found on its disk when it began.
func (g *Guard) attached(ctx context.Context, fs string, found interp.Observation) {
	note := "no file system yet: writes pass until one appears"
	if fs != "" {
		note = fs + " found; its present state is the baseline"
	}
	g.report(&Event{Disk: g.name, FS: fs, Kind: KindAttach, Outcome: change.Holds, Note: note})
	if found.Point == interp.NoPoint {
		return
	}
	start := time.Now()
	ev := checkObservation(ctx, g.rules, fs, found, nil)
	g.work.Current().End()
	ev.Kind, ev.Disk, ev.CheckNS = KindBaseline, g.name, time.Since(start).Nanoseconds()
	ev.Note = "the log that an unclean stop has left, or a guest that is running"
	place(ev, g.disk, func(i int) string { return g.peers[i].name })
	g.report(ev)
}

// WriteOf turns a request into a write as the interpreter takes it.
func WriteOf(r *blocktap.Request) interp.Write {
	w := interp.Write{Off: r.Off, Len: r.Len, Discard: r.Op == blocktap.OpTrim}
	if !r.FUA {
		w.Seq = r.Seq
	}
	if r.Op == blocktap.OpWrite {
		w.Data = r.Data
	}
	return w
}
