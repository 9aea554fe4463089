package explore

import (
	"context"
	"errors"
	"slices"
)

// Replay runs the choices that led to an error once more, with the same crashes after them, and returns the error if it is found
// again, nil if not.
func Replay(ctx context.Context, cfg Config, e Error) (found *Failure, err error) {
	x := &explorer{Config: cfg, memo: make(memo), stop: ctx}
	x.Crash.Seed, x.Crash.Limit, x.MaxFaults = e.Seed, e.Limit, len(e.Fail)
	ctx = context.WithoutCancel(ctx)
	if x.session, err = newSession(ctx, x.Config); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, x.session.close(ctx)) }()
	f, err := x.reproduce(ctx, e)
	if err != nil || f == nil {
		return nil, err
	}
	return f.Failure, nil
}

// again runs the choices of an error, and tries its crash, or those like it.
func (x *explorer) reproduce(ctx context.Context, e Error) (f *failureContext, err error) {
	if len(e.Steps) == 0 {
		return nil, errors.New("an error without a step")
	}
	last := len(e.Steps) - 1
	if err := x.stopped(); err != nil {
		return nil, err
	}
	r, err := x.session.run(ctx, &state{Steps: e.Steps[:last], Next: Values(e.Steps[last]), Fail: e.Fail})
	if err != nil {
		return nil, err
	}
	if r.idle != "" {
		return nil, idleDivergence(r.idle)
	}
	if i := slices.IndexFunc(r.nonfatal, func(f *Failure) bool { return f.Kind == e.Kind }); i >= 0 {
		return &failureContext{Failure: r.nonfatal[i], execution: r}, nil
	}
	if r.found == nil && e.ProcessCrash != nil {
		return x.crashProcessAgain(ctx, r, e)
	}
	if r.found != nil || e.Crash == nil {
		return sameKind(&failureContext{Failure: r.found, execution: r}, e), nil
	}
	if found, err := x.session.target.finish(ctx); err != nil || found != nil {
		return sameKind(&failureContext{Failure: found, execution: r}, e), err
	}
	var by *examiner
	// What is equal to the disk that was kept first. Where blocks were allocated otherwise, any that shows the error will do.
	for _, exact := range []bool{true, false} {
		if by, err = x.newExaminer(ctx); err != nil { // for a log from its beginning
			return nil, err
		}
		_, err := x.session.disks.crashes(r, x.Crash, func(c crashCase) error {
			if c.window != e.Crash.Window || c.Epoch.String() != e.Crash.Epoch || exact != (c.sum() == e.Crash.Contents) {
				return x.stopped()
			}
			bad, _, err := x.checkCrash(ctx, by, c)
			if err != nil || bad == nil {
				return err
			}
			if f = sameKind(&failureContext{Failure: bad.Failure, execution: r}, e); f != nil {
				f.disk = x.session.keepDisk(bad.crashCase)
				return errFailureFound
			}
			return nil
		})
		if err != nil && !errors.Is(err, errFailureFound) || f != nil {
			if f != nil {
				err = nil
			}
			return f, err
		}
	}
	return nil, nil
}

// sameKind returns a failureContext that is like an error, else nil.
func sameKind(f *failureContext, e Error) *failureContext {
	if f.Failure == nil || !f.matches(e.Kind, e.Property) {
		return nil
	}
	return f
}
