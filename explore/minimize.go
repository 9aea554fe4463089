package explore

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"fsward/explore/crash"
)

// Bounds of minimization.
const (
	minimizeTime    = 2 * time.Minute
	furtherTime     = 20 * time.Second // for a failure of a kind and property that has an error
	maxCloserStates = 32               // crash states at a smaller crash distance
)

// A minimizer makes failures of a run smaller.
type minimizer struct{ x *explorer }

// A shower executes the steps of an error again. It returns the failure that matches it; nil: none
// shows.
type shower func(e Error) (*failureContext, error)

// minimize looks for the same failure after fewer steps, after fewer parts of them, and then at a
// smaller crash distance. It returns the smallest that it found in time, or f itself. Of a
// surprise, it only leaves out parts: there are many, and the first has few steps.
func (m minimizer) minimize(ctx context.Context, f *failureContext) (*failureContext, error) {
	x := m.x
	all := x.stop
	defer func() { x.stop = all }()
	var cancel context.CancelFunc
	limit := minimizeTime
	if f.Surprise || slices.ContainsFunc(x.errors, func(e Error) bool {
		return f.matches(e.Kind, e.Property)
	}) {
		limit = furtherTime
	}
	x.stop, cancel = context.WithTimeout(all, limit)
	defer cancel()
	show := func(e Error) (*failureContext, error) {
		shown, err := x.reproduce(ctx, e)
		if incomparable(err) { // a step may depend on what was left out
			return nil, nil
		}
		return shown, err
	}
	smaller := m.smaller
	if f.Surprise {
		smaller = m.fewestParts
	}
	best, err := smaller(f, show)
	if err == nil && !f.Surprise && best.disk != nil {
		best, err = m.simplestCrash(best, func(c crashCase) (*badDisk, error) {
			return m.showsAgain(ctx, best, c)
		})
	}
	if stopped := x.stopped(); stopped != nil && errors.Is(err, stopped) {
		err = nil // a failure is reported even if the run must stop
	}
	return best, err
}

// smaller leaves out steps, parts of steps, and choices of the setup.
func (m minimizer) smaller(f *failureContext, show shower) (*failureContext, error) {
	best, err := fewest(f, removableSteps, func(like *failureContext,
		from, to int) (*failureContext, error) {
		e := like.asError(&m.x.Config)
		e.Steps = slices.Delete(slices.Clone(e.Steps), from, to)
		if len(e.StepFaults) >= to {
			e.StepFaults = slices.Delete(slices.Clone(e.StepFaults), from, to)
		}
		return show(e)
	})
	if err == nil {
		best, err = m.fewestParts(best, show)
	}
	if err != nil {
		return best, err
	}
	return simplestSetup(best, func(like *failureContext,
		setup []Choice) (*failureContext, error) {
		e := like.asError(&m.x.Config)
		e.Setup = setup
		return show(e)
	})
}

// showsAgain checks a crash state. It returns nil if that does not show the failure.
func (m minimizer) showsAgain(ctx context.Context, f *failureContext,
	c crashCase) (*badDisk, error) {
	by, err := newExaminer(ctx, m.x)
	if err != nil {
		return nil, err
	}
	by.closely = inspects(f.disk.Choices)
	bad, _, err := by.check(ctx, c)
	if err != nil || bad == nil {
		if incomparable(err) {
			err = nil
		}
		return nil, err
	}
	if bad.Failure = bad.pick(f.Kind, f.Property); bad.Failure == nil {
		return nil, nil
	}
	return bad, nil
}

// removableSteps returns the number of steps that may not matter for a failure: the last one shows
// it.
func removableSteps(f *failureContext) int { return len(f.steps) - 1 }

// removableParts returns the number of parts of all steps that are not left out.
func removableParts(f *failureContext) (n int) {
	for _, step := range f.steps {
		for _, c := range step {
			if c.isKept() {
				n++
			}
		}
	}
	return n
}

// partsShare is the part of a run's time left, one of so many, in which parts are left out. Without
// it, an error has more parts, and without more of the run, errors are not found.
const partsShare = 4

// fewestParts leaves out parts of the steps.
func (m minimizer) fewestParts(best *failureContext, show shower) (*failureContext, error) {
	x, outer := m.x, m.x.stop
	end, _ := outer.Deadline() // minimize has set one
	var cancel context.CancelFunc
	x.stop, cancel = context.WithTimeout(outer, time.Until(end)/partsShare)
	defer func() { cancel(); x.stop = outer }()
	best, err := fewest(best, removableParts, func(like *failureContext,
		from, to int) (*failureContext, error) {
		e := like.asError(&x.Config)
		e.Steps = withoutParts(e.Steps, from, to)
		return show(e)
	})
	if stopped := x.stopped(); stopped != nil && errors.Is(err, stopped) {
		err = outer.Err()
	}
	return best, err
}

// isKept reports whether a choice is a part of a step that is not left out.
func (c Choice) isKept() bool { return c.Part && c.Value == 0 }

// withoutParts returns steps without the parts from from to to of those that are kept.
func withoutParts(steps [][]Choice, from, to int) (without [][]Choice) {
	n := 0
	for _, step := range steps {
		step = slices.Clone(step)
		for i := range step {
			if !step[i].isKept() {
				continue
			}
			if n >= from && n < to {
				step[i].Value = 1
			}
			n++
		}
		without = append(without, step)
	}
	return without
}

// fewest leaves out runs of what a failure has, of which count returns the number: half of them,
// then quarters, and so on, down to single ones. show executes like without those from from to to,
// and returns a failure that matches like if they show one, else nil.
// Random searches repeatedly remove a file and make it again. Such steps can only be left out in
// pairs, so pairs are tried at each position.
func fewest(best *failureContext, count func(*failureContext) int,
	show func(like *failureContext, from, to int) (*failureContext, error),
) (*failureContext, error) {
	for n := (count(best) + 1) / 2; n > 0; n /= 2 {
		if n == 3 {
			n = 2 // do not skip pairs
		}
		for i := 0; i+n <= count(best); {
			smaller, err := show(best, i, i+n)
			switch {
			case err != nil:
				return best, err
			case smaller != nil:
				best = smaller
			case n == 2:
				i++
			default:
				i += n
			}
		}
	}
	return best, nil
}

// simplestSetup tries a 0 in place of each choice of the setup, from the first on. The later
// choices are then zeros, too. show is as for fewest.
func simplestSetup(best *failureContext,
	show func(like *failureContext, setup []Choice) (*failureContext, error),
) (*failureContext, error) {
	for i := 0; i < len(best.setup); i++ {
		if best.setup[i].Value == 0 {
			continue
		}
		setup := slices.Clone(best.setup[:i+1])
		setup[i].Value = 0
		simpler, err := show(best, setup)
		if err != nil {
			return best, err
		}
		if simpler != nil {
			best = simpler
		}
	}
	return best, nil
}

// crashDistance returns the number of missing writes and early blocks by which a crash state
// differs from the disk on which every write has completed.
func crashDistance(c crashCase) int { return len(c.Missing()) + len(c.Early()) }

// simplestCrash looks for the same failure from each perspective in turn, up to the first that
// shows it, and there at the smallest crash distance. show checks a crash state, and returns nil if
// it does not show the failure.
func (m minimizer) simplestCrash(best *failureContext,
	show func(c crashCase) (*badDisk, error)) (*failureContext, error) {
	for _, p := range perspectives {
		options := m.x.Crash
		if !p.restrict(&options) {
			continue
		}
		simpler, err := m.closestCrash(best, options, math.MaxInt, show)
		if err != nil {
			return best, err
		}
		if simpler != nil {
			simpler.disk.Perspective = p.name
			return simpler, nil
		}
	}
	distance := len(best.disk.Missing) + len(best.disk.Early)
	closer, err := m.closestCrash(best, m.x.Crash, distance, show)
	best = cmp.Or(closer, best)
	if err == nil {
		best.disk.Perspective = widest(m.x.Crash)
	}
	return best, err
}

// closestCrash looks for a crash state below a crash distance that shows the same failure; nil: it
// found none. options say which crash states are formed, in the window and the epoch of the
// failure.
func (m minimizer) closestCrash(best *failureContext, options crash.Options, below int,
	show func(c crashCase) (*badDisk, error)) (*failureContext, error) {
	type candidate struct {
		sum      string
		distance int
	}
	var list []candidate
	closer := func(c crashCase) bool {
		return c.window == best.disk.Window && c.Epoch.String() == best.disk.Epoch &&
			crashDistance(c) < below
	}
	disks := m.x.session.disks
	_, err := disks.crashes(best.execution, options, func(c crashCase) error {
		if closer(c) {
			list = append(list, candidate{c.sum(), crashDistance(c)})
		}
		return m.x.stopped()
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(list, func(a, b candidate) int {
		return cmp.Compare(a.distance, b.distance)
	})
	for _, want := range list[:min(len(list), maxCloserStates)] {
		var found *failureContext
		_, err := disks.crashes(best.execution, options, func(c crashCase) error {
			if c.sum() != want.sum || !closer(c) {
				return m.x.stopped()
			}
			bad, err := show(c)
			if bad != nil {
				found = best.crashFailure(bad, bad.keep(m.x.session))
			}
			return cmp.Or(err, errFailureFound)
		})
		if found != nil {
			return found, nil
		}
		if err != nil && !errors.Is(err, errFailureFound) {
			return nil, err
		}
	}
	return nil, nil
}
