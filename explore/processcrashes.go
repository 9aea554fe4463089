package explore

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
)

// checkProcessCrashes tries the process crashes of an execution, up to the first failure.
func (x *explorer) checkProcessCrashes(ctx context.Context, r *execution) (*failureContext, error) {
	if r.process == nil {
		return nil, nil
	}
	for _, plan := range x.sampleProcessCrashes(r.process.plans(r.windows)) {
		if err := x.stopped(); err != nil {
			return nil, err
		}
		for again := true; again; again = plan.choices.Next() {
			x.totals.ProcessCrashes++
			f, err := x.crashProcess(ctx, r, plan)
			if f != nil || err != nil {
				return f, err
			}
		}
	}
	return nil, nil
}

// sampleProcessCrashes returns Config.ProcessCrashLimit of the process crashes of a step, in their
// order.
func (x *explorer) sampleProcessCrashes(all []processCrashPlan) []processCrashPlan {
	n := x.ProcessCrashLimit
	if n == 0 || len(all) <= n {
		return all
	}
	x.totals.Sampled++
	chosen := rand.New(rand.NewPCG(x.Seed, uint64(len(all)))).Perm(len(all))[:n]
	slices.Sort(chosen)
	out := make([]processCrashPlan, n)
	for i, at := range chosen {
		out[i] = all[at]
	}
	return out
}

// crashProcess executes the steps of an execution again, ends the program during the last one, and
// asks the checker. A replay that diverges is counted, and is no error.
func (x *explorer) crashProcess(ctx context.Context, like *execution,
	plan processCrashPlan) (*failureContext, error) {
	steps, last := like.steps, len(like.steps)-1
	r, err := x.session.run(ctx, &state{Setup: like.setup, Steps: steps[:last],
		Faults: like.injected, Next: Values(steps[last]), Fail: like.faultsOf(last), crash: &plan})
	var diverged *DivergedError
	if errors.As(err, &diverged) {
		x.noteDiverged(err, len(steps))
		return nil, nil
	}
	if x.unjudged(err, len(steps)) {
		x.totals.ProcessCrashes--
		return nil, nil
	}
	if err != nil || r.found == nil {
		return nil, err
	}
	done := plan.ProcessCrash
	done.Choices = plan.choices.Taken()
	return &failureContext{execution: r, Failure: r.found, process: &done}, nil
}

// crashProcessAgain tries the process crash of an error again. It returns nil if the error does not
// show.
func (x *explorer) crashProcessAgain(ctx context.Context, r *execution,
	e Error) (*failureContext, error) {
	if r.process == nil {
		return nil, nil
	}
	for _, plan := range r.process.plans(r.windows) {
		if plan.Window != e.ProcessCrash.Window || !slices.Equal(plan.Calls, e.ProcessCrash.Calls) {
			continue
		}
		plan.choices.Replay(e.ProcessCrash.Choices)
		f, err := x.crashProcess(ctx, r, plan)
		if err == nil && f != nil {
			f = sameKind(f, e)
		}
		return f, err
	}
	return nil, nil
}
