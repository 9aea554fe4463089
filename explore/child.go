package explore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// child executes the next child of a state. All that it gave is written in one transaction: a run that
// is killed has all of it or nothing.
func (x *explorer) runChild(ctx context.Context, key []byte, st *state) error {
	before, asked := x.totals, maps.Clone(x.asked)
	r, err := x.session.run(ctx, st)
	var diverged *DivergedError
	var signature *SignatureError
	if errors.As(err, &diverged) || errors.As(err, &signature) {
		return x.drop(key, st, err)
	}
	if err != nil {
		return err
	}
	x.totals.Restoring += r.took.Seconds()
	x.noteThreads(r)
	f, recovered, err := x.examine(ctx, r)
	if err != nil {
		x.totals, x.asked = before, asked
		return err
	}
	var reported *Error
	if f != nil && f.Failure != nil {
		if reported, err = x.report(ctx, f); err != nil {
			return err
		}
	}
	nonfatal, err := x.reportAllNonfatal(ctx, r, reported != nil)
	if err != nil {
		x.totals = before
		return err
	}
	x.countRun(st, r)
	return x.store.update(func(c *change) error {
		for _, e := range nonfatal {
			if err := c.saveError(e); err != nil {
				return err
			}
		}
		if reported != nil {
			if err := c.saveError(reported); err != nil {
				return err
			}
		} else if st.Fail == nil && r.idle == "" {
			if err := x.addState(c, r, recovered); err != nil {
				return err
			}
		}
		if err := x.addFaults(c, st, r); err != nil {
			return err
		}
		return errors.Join(x.advance(c, key, st, r), x.saveTotals(c))
	})
}

// drop takes a state out of the frontier whose replay diverged.
func (x *explorer) drop(key []byte, st *state, diverged error) error {
	x.totals.Diverged++
	x.totals.Waiting--
	x.emit(Event{Event: "diverged", Depth: len(st.Steps), Text: diverged.Error()})
	return x.store.update(func(c *change) error { return errors.Join(c.dequeue(key), x.saveTotals(c)) })
}

// examine looks for a failure in an execution: its own, then with crashes of the machine, then with
// crashes of the program. recovered is the most that a recovery wrote, in sectors.
func (x *explorer) examine(ctx context.Context, r *execution) (f *failureContext, recovered uint64, err error) {
	if r.found != nil {
		return &failureContext{execution: r, Failure: r.found}, 0, nil
	}
	f, recovered, err = x.checkCrashes(ctx, r)
	if err == nil && (f == nil || f.Failure == nil) {
		f, err = x.checkProcessCrashes(ctx, r)
	}
	return f, recovered, err
}

// noteThreads counts executions in which a thread found nothing to do, or ran although it was held.
func (x *explorer) noteThreads(r *execution) {
	if r.idle != "" {
		x.totals.Idle++
	}
	if len(r.unscheduled) == 0 {
		return
	}
	x.totals.Unscheduled++
	text := strings.Join(r.unscheduled, ", ") + " ran though held: this may not replay"
	x.emit(Event{Event: "strayed", Depth: len(r.steps), Text: text})
}

// countRun adds an execution to the totals.
func (x *explorer) countRun(st *state, r *execution) {
	x.totals.Runs++
	if r.loaded {
		x.totals.Loaded++
	}
	if st.Fail != nil {
		x.totals.Failed++
	}
	x.totals.Deepest = max(x.totals.Deepest, len(r.steps))
	x.tick()
}

// reportAllNonfatal reports the failures that did not end an execution. reported: another one of it was
// reported, and is kept even when the run is to stop.
func (x *explorer) reportAllNonfatal(ctx context.Context, r *execution, reported bool) (out []*Error, err error) {
	for _, found := range r.nonfatal {
		e, err := x.reportNonfatal(ctx, &failureContext{execution: r, Failure: found})
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

// reportNonfatal reports a failure that did not end its execution. The first of its kind must be seen
// twice: a writeback that the kernel does now and then, of its own accord, may have come between a call
// and its return.
func (x *explorer) reportNonfatal(ctx context.Context, f *failureContext) (*Error, error) {
	if !slices.ContainsFunc(x.errors, func(e Error) bool { return e.Kind == f.Kind }) {
		again, err := x.reproduce(ctx, x.errorOf(f))
		var diverged *DivergedError
		if errors.As(err, &diverged) {
			err = nil
		}
		if err != nil || again == nil {
			return nil, err
		}
	}
	return x.report(ctx, f)
}

// grow puts the state that a run led to into the frontier, if it is new.
func (x *explorer) addState(c *change, r *execution, recovered uint64) error {
	fresh, err := c.markSeen(r.sig)
	if err != nil || !fresh {
		return err
	}
	x.totals.States++
	if x.Depth > 0 && len(r.steps) >= x.Depth {
		return nil
	}
	last := fmt.Sprint(Values(r.steps[len(r.steps)-1]))
	t := traits{recovered: recovered, features: []string{last, r.sig, fmt.Sprintf("%d writes", len(r.records))}}
	p, err := x.Strategy.priority(x.Seed, c.sequence(), t, c)
	if err != nil {
		return err
	}
	x.totals.Waiting++
	return c.enqueue(p, &state{Steps: r.steps, Sig: r.sig})
}

// advance has a state's next child be the next one, or takes it from the frontier.
func (x *explorer) advance(c *change, key []byte, st *state, r *execution) error {
	if !r.more || st.Fail != nil {
		x.totals.Waiting--
		return c.dequeue(key)
	}
	st.Next = r.next
	if x.Strategy != Random {
		return c.put(bucketFrontier, key, st)
	}
	p, err := x.Strategy.priority(x.Seed, c.sequence(), traits{}, c)
	return errors.Join(err, c.dequeue(key), c.enqueue(p, st))
}

// addFaults puts the same execution into the frontier with one more fault, at each call site.
func (x *explorer) addFaults(c *change, st *state, r *execution) error {
	if r.faults == nil || len(st.Fail) >= x.MaxFaults {
		return nil
	}
	for _, plan := range r.faults.more() {
		p, err := x.Strategy.priority(x.Seed, c.sequence(), traits{}, c)
		if err != nil {
			return err
		}
		x.totals.Waiting++
		if err := c.enqueue(p, &state{Steps: st.Steps, Sig: st.Sig, Next: Values(r.steps[len(r.steps)-1]), Fail: plan}); err != nil {
			return err
		}
	}
	return nil
}
