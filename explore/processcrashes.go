package explore

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
)

// A processExaminer tries process crashes of an execution.
type processExaminer struct {
	x *explorer
	r *execution
}

// check tries the process crashes, up to the first failure.
func (by processExaminer) check(ctx context.Context) (*failureContext, error) {
	if by.r.process == nil {
		return nil, nil
	}
	for _, plan := range by.sample(by.r.process.plans(by.r.windows)) {
		if err := by.x.stopped(); err != nil {
			return nil, err
		}
		for again := true; again; again = plan.choices.Next() {
			by.x.totals.ProcessCrashes++
			f, err := by.crash(ctx, plan)
			if f != nil || err != nil {
				return f, err
			}
		}
	}
	return nil, nil
}

// sample returns Config.ProcessCrashLimit of the process crashes of a step, in their order.
func (by processExaminer) sample(all []processCrashPlan) []processCrashPlan {
	n := by.x.ProcessCrashLimit
	if n == 0 || len(all) <= n {
		return all
	}
	by.x.totals.Sampled++
	chosen := rand.New(rand.NewPCG(by.x.Seed, uint64(len(all)))).Perm(len(all))[:n]
	slices.Sort(chosen)
	out := make([]processCrashPlan, n)
	for i, at := range chosen {
		out[i] = all[at]
	}
	return out
}

// crash executes the steps again, ends the program during the last one, and asks the checker. A
// replay that diverges is counted, and is no error.
func (by processExaminer) crash(ctx context.Context,
	plan processCrashPlan) (*failureContext, error) {
	x, like := by.x, by.r
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

// again tries the process crash of an error again. It returns nil if the error does not show.
func (by processExaminer) again(ctx context.Context, e Error) (*failureContext, error) {
	if by.r.process == nil {
		return nil, nil
	}
	for _, plan := range by.r.process.plans(by.r.windows) {
		if plan.Window != e.ProcessCrash.Window || !slices.Equal(plan.Calls, e.ProcessCrash.Calls) {
			continue
		}
		plan.choices.Replay(e.ProcessCrash.Choices)
		f, err := by.crash(ctx, plan)
		if err == nil && f != nil {
			f = sameKind(f, e)
		}
		return f, err
	}
	return nil, nil
}
