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
	"fsward/interp/detect"
)

// A Guard stands between a guest and one disk: it is the hook of the disk's device. The guards of
// several disks share an interpreter, and their devices take turns.
type Guard struct {
	name   string
	disk   int      // index among the disks of the interpreter
	peers  []*Guard // guards of all these disks in their order; nil if there is one disk
	interp interp.Interpreter
	// layout is the interpreter if it follows the volumes of the disks; else nil
	layout *detect.Volumes
	rules  *Rules
	policy Policy
	sinks  []Sink
	bug    *Simulator // nil: no bug is simulated
	// Seq of the last write that bug could change
	simulated uint64
	log       *zap.Logger

	witness  Witness       // sees what is done to the disk; may be nil
	base     overlay.Base  // the disk itself
	requests func() uint64 // returns the number of requests of the guest so far
	volumes  *volumeTable  // may be nil
	// is called when a state of a volume becomes the baseline without a check; may be nil
	unjudged func(volume int)
	// is called when an undecided write is on a volume; may be nil
	undecided func(volume int, ev *Event)
	// is called when a write that is not ordinary has landed; may be nil
	settled func()
	work    *change.WorkBudget // of the interpreter; may be nil
	judging *judgmentWatch     // may be nil

	late lateCommits // whose superblocks wait at this disk

	flushed       atomic.Uint64 // sequence number of the last write that the guest has flushed
	flushes       atomic.Int64  // flushes of the disk; counted after flushed is set
	flushReported int64         // the number of flushes that the interpreter knows
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
func (g *Guard) Flushed(seq uint64) {
	g.flushed.Store(seq)
	g.flushes.Add(1)
}

// reportFlushed tells the interpreter of the flushes, also if nothing was written before them.
func (g *Guard) reportFlushed() {
	if n := g.flushes.Load(); n != g.flushReported {
		g.flushReported = n
		g.interp.Flushed(g.disk, g.flushed.Load())
	}
}

// Handle is the flow of fsward: interpret the write, check what changed, decide, then perform or
// refuse the write. The device calls it for one write at a time, in order. It returns the policy's
// refusal or the error of do.
func (g *Guard) Handle(ctx context.Context, r *blocktap.Request, do func() error) error {
	defer g.late.writes.Add(1)
	w := g.writeOf(r)
	volume, off := g.locate(w.Off)
	g.simulate(r)
	volume.keep(w, off)
	g.judging.setVolume(volume)
	g.reportFlushed()
	for _, p := range g.peers {
		p.reportFlushed()
	}
	start := time.Now()
	obs := g.interp.Observe(w)
	observed := time.Since(start)
	if ordinary(obs) {
		err := do()
		g.interp.Settle(err == nil)
		volume.countPassed()
		return err
	}

	// Judge the write even if its connection is cut meanwhile. The work is bounded, and the disk
	// then agrees with the log of a recording.
	judging := context.WithoutCancel(ctx)
	early := g.matchingCheck(judging, obs.Txn)
	ev := checkObservation(judging, g.rules, g.interp.FS(), obs, early)
	g.work.Current().End()
	ev.Disk, ev.Volume = g.name, g.pathOf(obs.Volume)
	ev.note(g.late.note)
	g.place(ev)
	ev.InterpNS, ev.CheckNS = observed.Nanoseconds(), time.Since(start).Nanoseconds()
	if early != nil {
		ev.AheadNS = start.Sub(early.began).Nanoseconds()
	}

	err := g.policy.Decide(ctx, ev)
	if err == nil {
		err = do()
	}
	g.interp.Settle(err == nil)
	g.bug.settle(obs.Point)
	ev.settle(err)
	if err != nil && g.witness != nil {
		g.witness.Refused()
	}
	g.landed(volume, obs, ev, err == nil)
	return err
}

// simulate lets the Simulator change a write, once.
func (g *Guard) simulate(r *blocktap.Request) {
	if g.bug == nil || g.simulated == r.Seq {
		return
	}
	g.simulated = r.Seq
	w := g.writeOf(r)
	volume, off := g.locate(w.Off)
	if volume != nil || g.volumes == nil {
		g.bug.alter(volume.address(w, off), g.log)
	}
}

// landed follows a write that is not ordinary, and reports it.
func (g *Guard) landed(volume *guardedVolume, obs interp.Observation, ev *Event, written bool) {
	if written && obs.Baseline && g.unjudged != nil {
		g.unjudged(obs.Volume)
	}
	guarded := g.layout == nil || g.layout.On(obs.Volume) != ""
	if written && guarded && ev.Outcome == change.Undecided && g.undecided != nil {
		g.undecided(obs.Volume, ev)
	}
	g.report(volume, ev)
	if written && g.settled != nil {
		g.settled()
	}
}

// locate returns the volume that holds an address, and the offset in it; nil if there is none.
func (g *Guard) locate(addr uint64) (v *guardedVolume, off uint64) {
	if g.volumes == nil {
		return nil, 0
	}
	i, off, ok := g.layout.Locate(addr)
	if !ok {
		return nil, 0
	}
	return g.volumes.at(i), off
}

// pathOf returns the name of a volume on its disk: "" for the whole disk, and if there is none.
func (g *Guard) pathOf(volume int) string {
	if g.layout == nil || volume < 0 {
		return ""
	}
	return g.layout.State(volume).Path
}

// Run returns how many of the n bytes from an offset on are judged as one write: see
// blocktap.Splitter.
func (g *Guard) Run(off, n uint64) uint64 {
	if g.layout == nil {
		return n
	}
	return g.layout.Run(interp.Address(g.disk, off), n)
}

// place turns the interpreter's addresses of violations into addresses on disks.
func (g *Guard) place(ev *Event) {
	place(ev, g.disk, func(i int) string { return g.peers[i].name })
}

// place names the disk of an address in a violation if that is not the event's own disk.
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
// first: rules check only well-formed metadata. early is the speculative check of the transaction,
// or nil.
func checkObservation(ctx context.Context, rules *Rules, fs string, obs interp.Observation,
	early *speculativeCheck) *Event {
	ev := &Event{FS: fs, Kind: kindOf(obs), Generation: obs.Generation, Note: obs.Note,
		RulesHash: rules.Info().Hash, Repeats: obs.Repeats}
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
	parts := obs.Logs
	if obs.Txn != nil || obs.Stream != nil {
		own := interp.Part{Txn: obs.Txn, Stream: obs.Stream, View: obs.View}
		parts = append([]interp.Part{own}, parts...)
	}
	for _, p := range parts {
		switch {
		case p.Stream != nil:
			ev.checkStream(ctx, rules, p)
			continue
		case early != nil && p.Txn == obs.Txn:
			ev.add(early.verdict)
		default:
			ev.add(rules.Check(ctx, p.Txn, p.View))
		}
		ev.Records += len(p.Txn.Records)
		ev.Steps = p.Txn.Work.Spent()
		ev.addTimes(rules.times(ev.FS))
	}
}

// checkStream checks a part that did not fit into memory.
func (ev *Event) checkStream(ctx context.Context, rules *Rules, p interp.Part) {
	ev.add(rules.CheckStream(ctx, ev.FS, p.Stream, p.View))
	ev.Records += p.Stream.Len()
	if commit, ok := p.Stream.(change.Finder); ok {
		ev.Steps = commit.Work().Spent()
	}
	ev.RuleTimes = rules.times(ev.FS)
}

// CheckImage turns an observation of a whole state into an event with a verdict. A violation names
// its disk if that is not own. name returns the name of a disk.
func CheckImage(
	ctx context.Context,
	rules *Rules,
	fs string,
	obs interp.Observation,
	own int,
	name func(disk int) string,
) *Event {
	ev := checkObservation(ctx, rules, fs, obs, nil)
	ev.Kind = KindImage
	place(ev, own, name)
	return ev
}

// ordinary reports whether the observation of a write needs no event, as that of most writes.
func ordinary(obs interp.Observation) bool {
	return obs.Point == interp.NoPoint && len(obs.Violations) == 0 && obs.Unknown == nil &&
		obs.Note == ""
}

// report sends an event of a volume, which may be nil, to all sinks.
func (g *Guard) report(v *guardedVolume, ev *Event) {
	if v != nil {
		v.unverified.Load().mark(ev)
		v.counts.Event(ev)
	}
	for _, s := range g.sinks {
		s.Event(ev)
	}
}

// attached reports what the guard found on a volume when it began.
func (g *Guard) attached(ctx context.Context, v *guardedVolume, found interp.Observation) {
	state := v.state.Load()
	fs := state.FS
	ev := &Event{Disk: g.name, Volume: state.Path, FS: fs, Kind: KindAttach, Outcome: change.Holds,
		State: ContentText(state)}
	switch {
	case fs != "":
		ev.State = guardedText(state)
		ev.Note = fs + " found; its present state is the baseline"
		if state.Lost != "" {
			ev.Note += "; " + ev.State + ", and its copies are not judged"
		}
	case state.Reason != "":
		ev.Note = "not guarded: " + state.Reason + "; its writes are not judged"
	default:
		ev.Note = "no file system yet: writes pass until one appears"
	}
	g.report(v, ev)
	if found.Point == interp.NoPoint {
		return
	}
	start := time.Now()
	found.MarkWhole()
	ev = checkObservation(ctx, g.rules, fs, found, nil)
	g.work.Current().End()
	ev.Kind, ev.Disk, ev.Volume = KindBaseline, g.name, state.Path
	ev.CheckNS = time.Since(start).Nanoseconds()
	ev.Note = "the log that an unclean stop has left, or a guest that is running"
	g.place(ev)
	g.report(v, ev)
}

// writeOf is WriteOf with the address on the disks of the interpreter.
func (g *Guard) writeOf(r *blocktap.Request) interp.Write {
	w := WriteOf(r)
	w.Off = interp.Address(g.disk, w.Off)
	return w
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
