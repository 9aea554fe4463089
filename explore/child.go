package explore

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"
)

// runChild executes the next child of a state. All results belong to one transaction, so that a run
// that is killed has all of them or none.
func (x *explorer) runChild(ctx context.Context, key []byte, st *state) error {
	before, tried := x.totals, maps.Clone(x.triedCrashes)
	begin := time.Now()
	r, err := x.session.run(ctx, st)
	took := time.Since(begin)
	var diverged *DivergedError
	var signature *SignatureError
	switch {
	case errors.As(err, &diverged) || errors.As(err, &signature):
		x.noteDiverged(err, len(st.Steps))
		return x.drop(key)
	case x.unjudged(err, len(st.Steps)):
		return x.drop(key)
	case err != nil:
		return err
	}
	x.totals.Restoring += r.took.Seconds()
	x.totals.Running += (took - r.took).Seconds()
	if text := r.strayed(); text != "" {
		x.emit(Event{Event: "strayed", Depth: len(r.steps), Text: text})
	}
	f, recovered, err := x.examine(ctx, r)
	if err != nil {
		before.CutShort += x.totals.CrashStates - before.CrashStates +
			x.totals.ProcessCrashes - before.ProcessCrashes
		x.totals, x.triedCrashes = before, tried
		if x.unjudged(err, len(r.steps)) {
			return x.drop(key)
		}
		return err
	}
	var reported *Error
	if f != nil && f.Failure != nil {
		if reported, err = x.report(ctx, f); err != nil {
			return err
		}
	} else {
		f = nil
	}
	errs, err := x.reportOthers(ctx, r, reported)
	if err != nil {
		x.totals = before
		return err
	}
	x.totals.count(st, r)
	x.tick()
	err = x.store.update(func(c *change) error {
		for _, e := range errs {
			if err := c.saveError(e); err != nil {
				return err
			}
		}
		return x.addResults(c, key, st, r, traits{recovered: recovered}, f)
	})
	if err != nil || len(errs) == 0 {
		return err
	}
	return x.store.commit() // the folders of the errors are on the disk
}

// addResults adds an execution to the run: its coverage, the state after it, its faults, and the
// next child of its parent. After a failure it adds the step without its part that failed, and no
// state.
func (x *explorer) addResults(c *change, key []byte, st *state, r *execution, t traits,
	failed *failureContext) (err error) {
	if t.rarest, err = x.totals.addCoverage(c, r, &x.growth); err != nil {
		return err
	}
	if failed == nil && r.idle == "" {
		if err := x.addState(c, r, t); err != nil {
			return err
		}
	}
	if err := x.addAgain(c, st, r, failed); err != nil {
		return err
	}
	return errors.Join(x.advance(c, key, st, r), x.saveTotals(c))
}

// noteDiverged counts a replay that diverged.
func (x *explorer) noteDiverged(diverged error, depth int) {
	x.totals.Diverged++
	x.emit(Event{Event: "diverged", Depth: depth, Text: diverged.Error()})
}

// drop removes a state from the frontier whose replay diverged, or whose step was not judged.
func (x *explorer) drop(key []byte) error {
	x.totals.Waiting--
	return x.store.update(func(c *change) error {
		return errors.Join(c.dequeue(key), x.saveTotals(c))
	})
}

// examine looks for a failure of an execution: first during the execution itself, then with crashes
// of the machine, then with process crashes. recovered is the most sectors that a recovery wrote.
func (x *explorer) examine(ctx context.Context,
	r *execution) (f *failureContext, recovered uint64, err error) {
	if r.found != nil {
		return &failureContext{execution: r, Failure: r.found}, 0, nil
	}
	if !x.ProcessCrashesOnly {
		f, recovered, err = x.checkCrashes(ctx, r)
	}
	if err == nil && (f == nil || f.Failure == nil) {
		f, err = processExaminer{x, r}.check(ctx)
	}
	return f, recovered, err
}

// strayed says which threads ran although they were held; "": none.
func (r *execution) strayed() string {
	if len(r.unscheduled) == 0 {
		return ""
	}
	return strings.Join(r.unscheduled, ", ") + " ran though held: this may not replay"
}

// count adds an execution.
func (t *Totals) count(st *state, r *execution) {
	t.Runs++
	t.Commands += r.commands.Commands
	t.CommandsFailed += r.commands.CommandsFailed
	if r.loaded {
		t.Loaded++
	}
	if st.Fail != nil {
		t.Failed++
	}
	if r.idle != "" {
		t.Idle++
	}
	if r.strayed() != "" {
		t.Unscheduled++
	}
	t.Deepest = max(t.Deepest, len(r.steps))
}

// reportOthers reports the failures that did not end an execution, and its surprises. It returns
// them after the failure that ended it, if reported is not nil.
func (x *explorer) reportOthers(
	ctx context.Context, r *execution, reported *Error,
) ([]*Error, error) {
	var nonfatal []*failureContext
	for _, found := range r.nonfatal {
		nonfatal = append(nonfatal, &failureContext{execution: r, Failure: found})
	}
	errs, err := x.reportEach(nonfatal, reported != nil,
		func(f *failureContext) (*Error, error) { return x.reportNonfatal(ctx, f) })
	if err != nil {
		return nil, err
	}
	if reported != nil {
		errs = append(errs, reported)
	}
	surprises, err := x.reportEach(r.surprises, len(errs) > 0,
		func(f *failureContext) (*Error, error) { return x.report(ctx, f) })
	return append(errs, surprises...), err
}

// reportEach reports the failures of an execution that did not end it. With reported, another
// failure of the execution was reported already. A stop of the run is then no error, so that this
// failure is kept.
func (x *explorer) reportEach(list []*failureContext, reported bool,
	report func(f *failureContext) (*Error, error)) (out []*Error, err error) {
	for _, f := range list {
		e, err := report(f)
		if stopped := x.stopped(); reported && stopped != nil && errors.Is(err, stopped) {
			break
		}
		if err != nil {
			return nil, err
		}
		if e != nil {
			out = append(out, e)
		}
	}
	return out, nil
}

// reportNonfatal reports a failure that did not end its execution. It reproduces the first failure
// of each kind, and reports nothing if it cannot: a periodic writeback of the kernel may have come
// between a call and its return.
func (x *explorer) reportNonfatal(ctx context.Context, f *failureContext) (*Error, error) {
	if !slices.ContainsFunc(x.errors, func(e Error) bool { return e.Kind == f.Kind }) {
		again, err := x.reproduce(ctx, f.asError(&x.Config))
		if incomparable(err) {
			err = nil
		}
		if err != nil || again == nil {
			return nil, err
		}
	}
	return x.report(ctx, f)
}

// addState puts the state after an execution into the frontier, if it is new. It completes the
// traits of the state.
func (x *explorer) addState(c *change, r *execution, t traits) error {
	fresh, err := c.markSeen(r.sig)
	if err != nil || !fresh {
		return err
	}
	x.totals.States++
	if x.Depth > 0 && len(r.steps) >= x.Depth {
		return nil
	}
	t.features = append(slices.Clone(r.features), r.pair(), r.dirty())
	t.depth, t.uncommon = len(r.steps), uncommonSteps(r.steps)
	p, err := x.Strategy.priority(x.Seed, c.sequence(), t, c)
	if err != nil {
		return err
	}
	if x.Strategy == LeastSeen && p > 0 {
		x.totals.Familiar++
	}
	x.totals.Waiting++
	return c.enqueue(p, &state{Setup: r.setup, Steps: r.steps, Faults: r.allFaults(), Sig: r.sig,
		Scout: x.Strategy == Cover})
}

// advance moves a state to its next child, or removes it from the frontier after its last child.
func (x *explorer) advance(c *change, key []byte, st *state, r *execution) error {
	if st.Without {
		x.totals.Waiting--
		return c.dequeue(key)
	}
	if st.Scout {
		return x.advanceScout(c, key, st, r)
	}
	if r.more {
		st.Next = restNext(st, r.next)
	}
	if !r.more || st.Fail != nil || st.Next == nil {
		x.totals.Waiting--
		return c.dequeue(key)
	}
	if x.Strategy != Random {
		return c.put(bucketFrontier, key, st)
	}
	p, err := x.Strategy.priority(x.Seed, c.sequence(), traits{depth: len(st.Steps)}, c)
	return errors.Join(err, c.dequeue(key), c.enqueue(p, st))
}

// advanceScout moves a scout to its next operation, and puts the other ways to do this one into the
// frontier.
func (x *explorer) advanceScout(c *change, key []byte, st *state, r *execution) error {
	taken := r.steps[len(r.steps)-1]
	if len(taken) > 1 || r.cut {
		rest := *st
		rest.Scout, rest.Scouted, rest.Repeat = false, slices.Clone(taken), r.cut
		zeros := make([]uint32, min(len(taken), 2))
		zeros[0] = taken[0].Value
		if rest.Next = restNext(&rest, zeros); rest.Next != nil {
			if err := c.enqueue(coverPriority(rest.coverTraits()), &rest); err != nil {
				return err
			}
			x.totals.Waiting++
		}
	}
	if st.Next = following(taken[:min(1, len(taken))], 0); st.Next == nil {
		x.totals.Waiting--
		return c.dequeue(key)
	}
	if first := taken[0]; first.Common > 0 && st.Next[0] == first.Common {
		st.Later = true
		return errors.Join(c.dequeue(key), c.enqueue(coverPriority(st.coverTraits()), st))
	}
	return c.put(bucketFrontier, key, st)
}

// addAgain puts the same execution into the frontier again: once for each further call site, with a
// fault there in addition to those of st, and without the part that failed.
func (x *explorer) addAgain(c *change, st *state, r *execution, failed *failureContext) error {
	for _, child := range append(r.withFaults(st, x.MaxFaults), failed.withoutPart(st)...) {
		p, err := x.Strategy.priority(x.Seed, c.sequence(), traits{depth: len(st.Steps)}, c)
		if err != nil {
			return err
		}
		x.totals.Waiting++
		if err := c.enqueue(p, child); err != nil {
			return err
		}
	}
	return nil
}

// withFaults returns the children of st that repeat an execution with one more fault each.
func (r *execution) withFaults(st *state, most int) (out []*state) {
	before := 0
	for _, faults := range st.Faults {
		before += len(faults)
	}
	if r.faults == nil || before+len(st.Fail) >= most {
		return nil
	}
	last := Values(r.steps[len(r.steps)-1])
	for _, plan := range r.faults.more() {
		out = append(out, &state{Setup: st.Setup, Steps: st.Steps, Faults: st.Faults, Sig: st.Sig,
			Next: last, Fail: plan})
	}
	return out
}
