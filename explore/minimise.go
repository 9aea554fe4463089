package explore

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"
)

// Bounds of what is tried to make an error smaller.
const (
	minimiseTime = 2 * time.Minute
	minimiseMost = 32 // crash disks with fewer writes missing, or blocks early
)

// minimise makes what leads to an error smaller: fewer steps, then fewer writes that are missing. What cannot be made smaller, or not in
// time, comes back as it is.
func (x *explorer) minimise(ctx context.Context, f *failureContext) (*failureContext, error) {
	all := x.stop
	defer func() { x.stop = all }()
	var cancel context.CancelFunc
	x.stop, cancel = context.WithTimeout(all, minimiseTime)
	defer cancel()
	best, err := x.fewestSteps(ctx, f)
	if err == nil && best.disk != nil {
		best, err = x.fewestMissing(ctx, best)
	}
	if stopped := x.stopped(); stopped != nil && errors.Is(err, stopped) {
		err = nil // what was found is reported, even when all has to stop
	}
	return best, err
}

// fewestSteps leaves out runs of steps: half of them, then quarters, and so on, down to each step. A file that is removed and made again, over and
// over, as random searches do, goes in pairs and not step by step; so pairs are tried at each place.
func (x *explorer) fewestSteps(ctx context.Context, best *failureContext) (*failureContext, error) {
	for n := len(best.steps) / 2; n > 0; n /= 2 {
		if n == 3 {
			n = 2 // no run of two is passed over
		}
		for i := 0; i+n < len(best.steps); { // the last one is where it shows
			e := x.errorOf(best)
			e.Steps = slices.Delete(slices.Clone(best.steps), i, i+n)
			smaller, err := x.again(ctx, e)
			var diverged *DivergedError
			switch {
			case err != nil && !errors.As(err, &diverged): // which is that a step after it cannot be done without it
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

// crashDistance counts what makes a crash disk another than one on which the writes have all come to their end: those that are missing, and the
// blocks that are there early.
func crashDistance(c crashed) int { return len(c.Missing()) + len(c.Early()) }

// fewestMissing looks for a crash disk with the same error on which fewer writes are missing, or blocks early.
func (x *explorer) fewestMissing(ctx context.Context, best *failureContext) (*failureContext, error) {
	type candidate struct {
		sum           string
		crashDistance int
	}
	var list []candidate
	like := func(c crashed) bool {
		return c.window == best.disk.Window && c.Epoch.String() == best.disk.Epoch && crashDistance(c) < len(best.disk.Missing)+len(best.disk.Early)
	}
	_, err := x.session.crashes(best.execution, x.Crash, func(c crashed) error {
		if like(c) {
			list = append(list, candidate{c.sum(), crashDistance(c)})
		}
		return x.stopped()
	})
	if err != nil {
		return best, err
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Compare(a.crashDistance, b.crashDistance) })
	for _, want := range list[:min(len(list), minimiseMost)] {
		var smaller *failureContext
		by, err := x.newExaminer(ctx)
		if err != nil {
			return best, err
		}
		_, err = x.session.crashes(best.execution, x.Crash, func(c crashed) error {
			if c.sum() != want.sum || !like(c) {
				return x.stopped()
			}
			bad, _, err := x.checkCrash(ctx, by, c)
			if err == nil && bad != nil && bad.like(best.Kind, best.Property) {
				smaller = &failureContext{Failure: bad.Failure, execution: best.execution, disk: x.session.keep(bad.crashed)}
			}
			return cmp.Or(err, errEnough)
		})
		if smaller != nil {
			return smaller, nil
		}
		if err != nil && !errors.Is(err, errEnough) {
			return best, err
		}
	}
	return best, nil
}
