// Package oracle judges states that a crash can leave a disk in, by the invariants alone: no mount, no fsck. The journal of
// ext3 is replayed in memory, of Btrfs the superblock that the state has is followed, and its log. What is looked at is the
// difference from a state that is known to be sound, so that a state costs what differs.
//
// What a verdict depends on is noted. Another state that is the same in all of that has the same verdict: what differs is
// unreachable from whatever recovery starts from, or has a copy in the journal that takes its place.
package oracle

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"fsward/change"
	"fsward/explore/crash"
	"fsward/interp"
	"fsward/interp/detect"
	"fsward/invariants"
)

// Options of an oracle. The zero value uses the built-in rules and prunes.
type Options struct {
	Rules []invariants.File // nil: those built in
	Disk  int               // which disk of the states the file system is on, where they are of several
	// Whole reads the whole file system in each state, and compares nothing: slow, the judge of the other way.
	Whole bool
	// NoPrune judges each state by itself, whatever was found of others.
	NoPrune bool
}

// Stats count what an oracle did.
type Stats struct {
	Judged      int // states
	Pruned      int // of them, those that have the verdict of another state
	Violated    int
	Undecided   int
	Whole       int // whole file systems that were read: to confirm a violation, or since nothing else would do
	Unconfirmed int // of them, those that are sound though the difference from what was known is not one commit's
	Followed    int // times that a later state became the one that others are compared with
}

// A Verdict is what an oracle says of a state.
type Verdict struct {
	Outcome    change.Outcome
	Violations []change.Violation
	Undecided  []string // why, of Undecided
	Pruned     bool     // it is the verdict of another state
}

// Kind names what is wrong in a word, for grouping: the rule that is violated first; "" of a state that holds.
func (v Verdict) Kind() string {
	switch {
	case v.Outcome == change.Holds:
		return ""
	case len(v.Violations) > 0:
		return v.Violations[0].Rule
	}
	return v.Outcome.String()
}

// String says what is wrong in a line.
func (v Verdict) String() string {
	var parts []string
	for _, f := range v.Violations {
		text := f.Detail
		if text == "" {
			text = f.Doc
		}
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("%s %s: %s", f.Rule, f.ID, text)))
	}
	parts = append(parts, v.Undecided...)
	if len(parts) > 4 {
		parts = append(parts[:4], "…")
	}
	return strings.Join(append([]string{v.Outcome.String()}, parts...), "; ")
}

// followPages is after how many pages that differ from the known state a later one takes its place.
const followPages = 16

// An Oracle judges the states of one log. Used by one goroutine.
type Oracle struct {
	options Options
	fs      string
	engine  invariants.Engine
	known   interp.BaseState
	base    *crash.Snapshot // the known state; nil: the base of the log
	tried   crash.Signature // the durable state that was last tried as the known one
	apart   bool            // a state could not be compared with the known one
	memo    memo
	stats   Stats
}

// ErrUnsound means that the state before the log is not sound by itself, so that nothing can be compared with it.
var ErrUnsound = errors.New("the file system is not sound before the log begins")

// New judges the base of a log, which becomes the known state. fs is "ext3", "btrfs", or detect.Auto.
func New(ctx context.Context, fs string, base interp.Disk, options Options) (*Oracle, error) {
	o := &Oracle{options: options}
	var err error
	if o.fs, o.known, err = detect.BaseState(base, fs); err != nil {
		return nil, err
	}
	files := options.Rules
	if files == nil {
		if files, err = invariants.Builtin(o.fs); err != nil {
			return nil, err
		}
	}
	if o.engine, err = invariants.NewCompiled(detect.Schema(o.fs), files, invariants.Options{}); err != nil {
		return nil, err
	}
	if v := o.whole(ctx, base); v.Outcome != change.Holds {
		return nil, fmt.Errorf("%w: %s", ErrUnsound, v)
	}
	return o, nil
}

// FS is the name of the file system.
func (o *Oracle) FS() string { return o.fs }

// Stats returns what was counted so far.
func (o *Oracle) Stats() Stats { return o.stats }

// Judge judges a state of the log. States come in the order in which crash forms them. The error is that of ctx.
func (o *Oracle) Judge(ctx context.Context, s *crash.State) (Verdict, error) {
	o.stats.Judged++
	var v Verdict
	if o.options.Whole {
		v = o.whole(ctx, s.Disk(o.options.Disk))
	} else {
		v = o.judge(ctx, s)
	}
	switch v.Outcome {
	case change.Violated:
		o.stats.Violated++
	case change.Undecided:
		o.stats.Undecided++
	}
	return v, ctx.Err()
}

func (o *Oracle) judge(ctx context.Context, s *crash.State) Verdict {
	f := o.image(s)
	if s.Durable != o.tried && (o.apart || len(f.differs) > followPages) {
		o.tried = s.Durable
		if o.advance(ctx, s.Settled()) {
			f = o.image(s)
		}
	}
	if !o.options.NoPrune {
		if v, ok := o.memo.find(s); ok {
			o.stats.Pruned++
			v.Pruned = true
			return v
		}
	}
	v := o.difference(ctx, f)
	// Several commits at once are no commit, and what is wrong with a state is wrong with it alone.
	if v.Outcome != change.Holds && ctx.Err() == nil {
		whole := o.whole(ctx, f)
		if whole.Outcome == change.Holds && v.Outcome == change.Violated {
			o.stats.Unconfirmed++
		}
		v = whole
	}
	if v.Outcome != change.Undecided && !o.options.NoPrune {
		o.memo.add(s, f.asked, v)
	}
	return v
}

// difference judges what a state changes of the known one.
func (o *Oracle) difference(ctx context.Context, f *crashImage) Verdict {
	obs, err := o.known.Compare(f)
	if err != nil {
		o.apart = o.apart || errors.Is(err, interp.ErrApart)
		return undecided(err)
	}
	return o.check(ctx, obs)
}

// advance makes a state the known one, if it is sound.
func (o *Oracle) advance(ctx context.Context, s *crash.State) bool {
	f := o.image(s)
	snapshot := s.Keep()
	disk := snapshotDisk{snapshot, f.first * crash.PageSize, f.Size()}
	obs, err := o.known.Compare(f)
	if err == nil {
		if o.check(ctx, obs).Outcome != change.Holds {
			return false
		}
		var differing []uint64
		for _, number := range f.differs {
			differing = append(differing, f.addr(number))
		}
		o.known.Follow(disk, differing)
	} else {
		if o.whole(ctx, disk).Outcome != change.Holds {
			return false
		}
		_, known, err := detect.BaseState(disk, o.fs)
		if err != nil {
			return false
		}
		o.known = known
	}
	o.base, o.apart = snapshot, false
	o.memo.clear()
	o.stats.Followed++
	return true
}

// whole judges a disk as one transaction of additions.
func (o *Oracle) whole(ctx context.Context, d interp.Disk) Verdict {
	o.stats.Whole++
	_, obs, err := detect.Image(d, o.fs)
	var bad *interp.CorruptError
	switch {
	case errors.As(err, &bad):
		return Verdict{Outcome: change.Violated, Violations: []change.Violation{{Rule: o.fs + "/baseline", Kind: change.ByStructure,
			Doc: "A file system can be mounted after a crash.", Detail: bad.Reason, Addr: bad.Addr, HasAddr: true}}}
	case errors.Is(err, interp.ErrNotFound):
		return Verdict{Outcome: change.Violated, Violations: []change.Violation{{Rule: o.fs + "/superblock", Kind: change.ByStructure,
			Doc: "A file system can be mounted after a crash.", Detail: "there is no superblock"}}}
	case err != nil:
		return undecided(err)
	}
	return o.check(ctx, obs)
}

// check judges an observation: structure first, rules only on what is well formed.
func (o *Oracle) check(ctx context.Context, obs interp.Observation) Verdict {
	switch {
	case len(obs.Violations) > 0:
		return Verdict{Outcome: change.Violated, Violations: obs.Violations}
	case obs.Unknown != nil:
		return undecided(obs.Unknown)
	}
	out := Verdict{Outcome: change.Holds}
	parts := obs.Logs
	if obs.Txn != nil {
		parts = append([]interp.Part{{Txn: obs.Txn, View: obs.View}}, parts...)
	}
	for _, p := range parts {
		v := o.engine.Check(ctx, p.Txn, p.View)
		out.Violations, out.Undecided = append(out.Violations, v.Violations...), append(out.Undecided, v.Undecided...)
		if v.Outcome == change.Violated || v.Outcome == change.Undecided && out.Outcome == change.Holds {
			out.Outcome = v.Outcome
		}
	}
	return out
}

func undecided(err error) Verdict {
	return Verdict{Outcome: change.Undecided, Undecided: []string{err.Error()}}
}
