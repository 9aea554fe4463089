// Package guard stands between a guest and its disks: it wires a disk, the interpreter of its file system, the rules and a
// policy together. Start reading at Guard.Handle.
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

// A Guard stands between a guest and one disk. It is the hook of the disk's device. The guards of several
// disks share an interpreter, and their devices take turns.
type Guard struct {
	name   string
	disk   int      // of those that the interpreter sees
	peers  []*Guard // of all these disks, in their order; nil if there is one
	interp interp.Interpreter
	rules  *Rules
	policy Policy
	sinks  []Sink
	bug    *Simulator // nil where no bug is simulated
	log    *zap.Logger

	witness  Witness                  // of the disk; may be nil
	base     overlay.Base             // the disk itself
	requests func() uint64            // of the guest so far
	unjudged func(disk int)           // told when a state becomes the baseline that was not judged; may be nil
	snapshot atomic.Pointer[snapshot] // what a pass reads; nil if none is under way

	flushed       atomic.Uint64     // number of the last write that the guest has flushed
	flushReported uint64            // the one that the interpreter knows of
	speculative   *speculativeCheck // the commit that is judged before it comes; nil if there is none
}

// Flushed notes how far the disk has been flushed: the interpreter is told with the next write.
func (g *Guard) Flushed(seq uint64) { g.flushed.Store(seq) }

func (g *Guard) tellFlushed() {
	if seq := g.flushed.Load(); seq != g.flushReported {
		g.flushReported = seq
		g.interp.Flushed(g.disk, seq)
	}
}

// Handle is the flow of fsward: guest write → what is this block, what changed → is it allowed → the
// write is done, or refused. The device calls it for one write at a time, in order.
func (g *Guard) Handle(ctx context.Context, r *blocktap.Request, do func() error) error {
	w := WriteOf(r)
	w.Off = interp.Address(g.disk, w.Off)
	g.bug.alter(w, g.log)

	if f := g.snapshot.Load(); f != nil {
		f.keep(w)
	}
	g.tellFlushed()
	for _, p := range g.peers {
		p.tellFlushed()
	}
	start := time.Now()
	obs := g.interp.Observe(w)
	observed := time.Since(start)
	if ordinary(obs) {
		err := do()
		g.interp.Settle(err == nil)
		return err
	}

	// A verdict does not depend on whether the connection that the write came by is still there: the time for it is
	// bounded (Rules.Check), and what is written to the disk is what the log of a recording says.
	judging := context.WithoutCancel(ctx)
	foreseen := g.matchingCheck(judging, obs.Txn)
	ev := judge(judging, g.rules, g.interp.FS(), obs, foreseen)
	ev.Disk = g.name
	place(ev, g.disk, func(i int) string { return g.peers[i].name })
	ev.InterpNS, ev.CheckNS = observed.Nanoseconds(), time.Since(start).Nanoseconds()
	if foreseen != nil {
		ev.AheadNS = start.Sub(foreseen.began).Nanoseconds()
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

	ev.settle(err)
	if err != nil && g.witness != nil {
		g.witness.Refused()
	}
	g.report(ev)
	return err
}

// place turns the addresses of violations into addresses on disks. A disk that is not the event's own is
// named.
func place(ev *Event, own int, name func(disk int) string) {
	ev.Violations = slices.Clone(ev.Violations) // they are the interpreter's
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

// judge turns an observation into an event with a verdict: structure first, rules only on what is
// well formed. foreseen is its transaction judged ahead, or nil.
func judge(ctx context.Context, rules *Rules, fs string, obs interp.Observation, foreseen *speculativeCheck) *Event {
	ev := &Event{FS: fs, Kind: kindOf(obs), Generation: obs.Generation, Note: obs.Note}
	switch {
	case len(obs.Violations) > 0:
		ev.Outcome, ev.Violations = change.Violated, obs.Violations
	case obs.Unknown != nil:
		ev.Outcome, ev.Undecided = change.Undecided, []string{obs.Unknown.Error()}
	default:
		ev.Outcome = change.Holds
		parts := obs.Logs
		if obs.Txn != nil {
			parts = append([]interp.Part{{Txn: obs.Txn, View: obs.View}}, parts...)
		}
		if obs.Stream != nil {
			ev.add(rules.CheckStream(ctx, fs, obs.Stream, obs.View))
			ev.Records += obs.Stream.Len()
			ev.RuleTimes = rules.times(fs)
		}
		for _, p := range parts {
			if foreseen != nil && p.Txn == obs.Txn {
				ev.add(foreseen.verdict)
			} else {
				ev.add(rules.Check(ctx, p.Txn, p.View))
			}
			ev.Records += len(p.Txn.Records)
			ev.RuleTimes = rules.times(fs)
		}
	}
	return ev
}

// JudgeImage turns an observation of a whole state into an event with a verdict. name names the disks of the file system.
func JudgeImage(ctx context.Context, rules *Rules, fs string, obs interp.Observation, name func(disk int) string) *Event {
	ev := judge(ctx, rules, fs, obs, nil)
	ev.Kind = KindImage
	place(ev, 0, name)
	return ev
}

// ordinary tells of a write that there is nothing to say about: most are.
func ordinary(obs interp.Observation) bool {
	return obs.Point == interp.NoPoint && len(obs.Violations) == 0 && obs.Unknown == nil && obs.Note == ""
}

func (g *Guard) report(ev *Event) {
	for _, s := range g.sinks {
		s.Event(ev)
	}
}

// attached reports which file system the guard found on its disk when it began.
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
	ev := judge(ctx, g.rules, fs, found, nil)
	ev.Kind, ev.Disk, ev.CheckNS = KindBaseline, g.name, time.Since(start).Nanoseconds()
	ev.Note = "the log that an unclean stop has left, or a guest that is running"
	place(ev, g.disk, func(i int) string { return g.peers[i].name })
	g.report(ev)
}

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
