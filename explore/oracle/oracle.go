// Package oracle judges crash states by the invariants alone, without a mount or fsck. For ext3 it
// replays the journal in memory; for Btrfs it reads the trees of the newest superblock and the log.
// It judges the difference from a base state that is known to be sound, so that the cost of a state
// depends on the difference.
//
// The oracle records the pages that a verdict depends on. Another state with the same contents in
// these pages has the same verdict: recovery cannot reach the pages that differ, or replaces them
// from the journal.
//
// Start reading at Oracle.Judge.
package oracle

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"fsward/change"
	"fsward/explore/crash"
	"fsward/interp"
	"fsward/interp/detect"
	"fsward/invariants"
	"fsward/invariants/bundle"
)

// Options of an oracle. The zero value uses the built-in rules and prunes.
type Options struct {
	Rules []invariants.File // nil: those of RulesDir
	// RulesDir has the rules of a file system in RulesDir/FS/*.pl; "": the built-in rules.
	RulesDir string
	// Site has the rules and settings of a site, which are used beside these.
	Site bundle.Bundles
	Disk int // the disk of the file system, if the states are of several disks
	// Whole reads the whole file system in each state and compares it with nothing. It is slow, and
	// serves as the reference in tests.
	Whole bool
	// NoPrune judges each state, without the verdicts of others.
	NoPrune bool
}

// Stats count what an oracle did.
type Stats struct {
	Judged      int // states
	Pruned      int // of these states, those that took the verdict of another
	Violated    int
	Undecided   int
	Whole       int // whole file systems that were read
	Unconfirmed int // violations of the difference that the whole file system did not confirm
	Followed    int // times that a later state became the base state
}

// A Verdict is the answer of an oracle about a state.
type Verdict struct {
	Outcome    change.Outcome
	Violations []change.Violation
	Undecided  []string // reasons for the outcome Undecided
	Pruned     bool     // it is the verdict of another state
}

// Kind returns a word by which verdicts are grouped: the rule of the first violation, or the
// outcome; "" if the rules hold.
func (v Verdict) Kind() string {
	if v.Outcome == change.Holds {
		return ""
	}
	for i := range v.Violations {
		if v.Violations[i].Acts() {
			return v.Violations[i].Rule
		}
	}
	return v.Outcome.String()
}

// String returns the outcome and at most four of its reasons, on one line.
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

// followPages is the number of pages that a state may differ from the base state. Beyond it the
// oracle tries a later base state.
const followPages = 16

// An Oracle judges the states of one log. It is for one goroutine.
type Oracle struct {
	options  Options
	fs       string
	window   Window
	engine   invariants.Engine
	base     interp.BaseState
	snapshot *crash.Snapshot // of the base state; nil: the base of the log
	tried    crash.Signature // the durable state that was last tried as the base state
	apart    bool            // a state could not be compared with the base state
	memo     memo
	stats    Stats
}

// ErrUnsound means that the state before the log is not sound, so that nothing can be compared
// with it.
var ErrUnsound = errors.New("the file system is not sound before the log begins")

// A Maker makes oracles with the same options. It loads the rules of a file system once, which
// takes as long as judging hundreds of states. It is for one goroutine.
type Maker struct {
	options Options
	engines map[string]invariants.Engine // by file system
}

// NewMaker returns a maker that has loaded no rules yet.
func NewMaker(options Options) *Maker {
	return &Maker{options, make(map[string]invariants.Engine)}
}

// New returns an oracle for the states of a log over base, which becomes the base state. fs is
// "ext3", "btrfs", or detect.Auto. The error wraps ErrUnsound if base violates a rule or is
// undecided.
func (m *Maker) New(ctx context.Context, fs string, base interp.Disk) (*Oracle, error) {
	return m.NewIn(ctx, fs, base, Window{})
}

// NewIn is New for a file system on a part of the disk base.
func (m *Maker) NewIn(ctx context.Context, fs string, base interp.Disk, w Window) (*Oracle, error) {
	if err := w.check(base.Size()); err != nil {
		return nil, err
	}
	o := &Oracle{options: m.options, window: w}
	base = w.Of(base)
	var err error
	if o.fs, o.base, err = detect.BaseState(base, fs); err != nil {
		return nil, err
	}
	if o.engine, err = m.engine(o.fs); err != nil {
		return nil, err
	}
	if v := o.whole(ctx, base); v.Outcome != change.Holds {
		return nil, fmt.Errorf("%w: %s", ErrUnsound, v)
	}
	return o, nil
}

// engine returns the rules of a file system. It loads them the first time.
func (m *Maker) engine(fs string) (invariants.Engine, error) {
	if e, is := m.engines[fs]; is {
		return e, nil
	}
	files := m.options.Rules
	if files == nil {
		var err error
		if files, err = m.options.read(fs); err != nil {
			return nil, err
		}
	}
	e, err := m.options.engine(fs, files)
	if err == nil {
		m.engines[fs] = e
	}
	return e, err
}

// read reads the rules of a file system.
func (o Options) read(fs string) ([]invariants.File, error) {
	if o.RulesDir == "" {
		return invariants.Builtin(fs)
	}
	return invariants.ReadDir(filepath.Join(o.RulesDir, fs))
}

// engine loads the rules of a file system, and those of the site.
func (o Options) engine(fs string, files []invariants.File) (invariants.Engine, error) {
	site, err := o.Site.Rules(fs)
	if err != nil {
		return nil, err
	}
	var engines []invariants.Engine
	for _, layer := range [][]invariants.File{files, site} {
		if layer == nil {
			continue
		}
		e, err := invariants.NewCompiled(detect.Schema(fs), layer,
			invariants.Options{Settings: o.Site.ByRule()})
		if err != nil {
			return nil, err
		}
		engines = append(engines, e)
	}
	return invariants.NewLayers(o.Site, engines...), nil
}

// FS returns the name of the file system, "ext3" or "btrfs".
func (o *Oracle) FS() string { return o.fs }

// Stats returns the counts so far.
func (o *Oracle) Stats() Stats { return o.stats }

// Judge judges a state of the log. States must come in the order in which the package crash forms
// them. The error is that of ctx.
func (o *Oracle) Judge(ctx context.Context, s *crash.State) (Verdict, error) {
	o.stats.Judged++
	var v Verdict
	if o.options.Whole {
		v = o.whole(ctx, o.window.Of(s.Disk(o.options.Disk)))
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
	// A state has as many differences as there are writes in flight, and most verdicts are known. So
	// the differences are left alone where they cannot lead to another base state.
	tried := s.Durable == o.tried
	if tried {
		if v, ok := o.known(s); ok {
			return v
		}
	}
	f := o.image(s)
	if !tried {
		if o.apart || len(f.differs) > followPages {
			o.tried = s.Durable
			if o.advance(ctx, s.Settled()) {
				f = o.image(s)
			}
		}
		if v, ok := o.known(s); ok {
			return v
		}
	}
	v := o.difference(ctx, f)
	// The difference can span several commits, which rules about one commit may refuse. So the whole
	// file system decides.
	if v.Outcome != change.Holds && ctx.Err() == nil {
		whole := o.whole(ctx, f)
		if whole.Outcome == change.Holds && v.Outcome == change.Violated {
			o.stats.Unconfirmed++
		}
		v = whole
	}
	if v.Outcome != change.Undecided && !o.options.NoPrune {
		o.memo.add(s, f.read, v)
	}
	return v
}

// known returns the verdict of another state that is also that of s.
func (o *Oracle) known(s *crash.State) (v Verdict, ok bool) {
	if o.options.NoPrune {
		return v, false
	}
	if v, ok = o.memo.find(s); ok {
		o.stats.Pruned++
		v.Pruned = true
	}
	return v, ok
}

// difference judges the difference between a state and the base state.
func (o *Oracle) difference(ctx context.Context, f *crashImage) Verdict {
	obs, err := o.base.Compare(f)
	if err != nil {
		o.apart = o.apart || errors.Is(err, interp.ErrApart)
		return undecided(err)
	}
	return o.check(ctx, obs)
}

// advance makes a state the base state, if it is sound. It reports whether it did.
func (o *Oracle) advance(ctx context.Context, s *crash.State) bool {
	f := o.image(s)
	snapshot := s.Keep()
	disk := snapshotDisk{snapshot, f.first * crash.PageSize, f.Size()}
	obs, err := o.base.Compare(f)
	if err == nil {
		if o.check(ctx, obs).Outcome != change.Holds {
			return false
		}
		var differing []uint64
		for _, number := range f.differs {
			differing = append(differing, f.addr(number))
		}
		o.base.Follow(disk, differing)
	} else {
		if o.whole(ctx, disk).Outcome != change.Holds {
			return false
		}
		_, base, err := detect.BaseState(disk, o.fs)
		if err != nil {
			return false
		}
		o.base = base
	}
	o.snapshot, o.apart = snapshot, false
	o.memo.clear()
	o.stats.Followed++
	return true
}

// whole judges the whole file system of a disk, as one transaction that adds all of it.
func (o *Oracle) whole(ctx context.Context, d interp.Disk) Verdict {
	o.stats.Whole++
	_, obs, err := detect.Image(d, o.fs)
	var corrupt *interp.CorruptError
	switch {
	case errors.As(err, &corrupt):
		v := o.unmountable("baseline", corrupt.Reason)
		v.Violations[0].Addr, v.Violations[0].HasAddr = corrupt.Addr, true
		return v
	case errors.Is(err, interp.ErrNotFound):
		return o.unmountable("superblock", "there is no superblock")
	case err != nil:
		return undecided(err)
	}
	return o.check(ctx, obs)
}

// unmountable is the verdict about a disk without a readable file system.
func (o *Oracle) unmountable(rule, detail string) Verdict {
	return Verdict{Outcome: change.Violated, Violations: []change.Violation{{
		Rule:   o.fs + "/" + rule,
		Kind:   change.ByStructure,
		Doc:    "A file system can be mounted after a crash.",
		Detail: detail,
	}}}
}

// check judges an observation: first the structure, and the rules only if the structure is sound.
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
		out.Violations = append(out.Violations, v.Violations...)
		out.Undecided = append(out.Undecided, v.Undecided...)
		if v.Outcome == change.Violated ||
			v.Outcome == change.Undecided && out.Outcome == change.Holds {
			out.Outcome = v.Outcome
		}
	}
	return out
}

func undecided(err error) Verdict {
	return Verdict{Outcome: change.Undecided, Undecided: []string{err.Error()}}
}
