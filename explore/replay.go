package explore

import (
	"context"
	"errors"
	"slices"
	"time"
)

// Replay executes the choices that led to an error again, and tries the same crashes. It returns
// the failure; nil: the failure does not show.
func Replay(ctx context.Context, cfg Config, e Error) (found *Failure, err error) {
	x := &explorer{Config: cfg, memo: make(memo), surprised: make(memo), stop: ctx}
	x.Crash.Seed, x.Crash.Limit = e.Seed, e.Limit
	x.MaxFaults = max(x.MaxFaults, len(e.Fail), len(e.StepFaults))
	if err := x.checkRecovery(); err != nil {
		return nil, err
	}
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

// reproduce executes the choices of an error, and tries its crash, or else others in the same
// window and epoch. It returns nil if the error does not show.
func (x *explorer) reproduce(ctx context.Context, e Error) (f *failureContext, err error) {
	if len(e.Steps) == 0 && len(e.Setup) == 0 {
		return nil, errors.New("the error has no step to replay")
	}
	if err := x.stopped(); err != nil {
		return nil, err
	}
	st := &state{Root: true, Next: Values(e.Setup)}
	if last := len(e.Steps) - 1; last >= 0 {
		st = &state{Setup: e.Setup, Steps: e.Steps[:last], Faults: e.StepFaults,
			Next: Values(e.Steps[last]), Fail: e.Fail}
	}
	r, err := x.session.run(ctx, st)
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
		return processExaminer{x, r}.again(ctx, e)
	}
	if r.found != nil || e.Crash == nil {
		return sameKind(&failureContext{Failure: r.found, execution: r}, e), nil
	}
	if found, err := x.session.target.finish(ctx); err != nil || found != nil {
		return sameKind(&failureContext{Failure: found, execution: r}, e), err
	}
	// Try the crash state with equal contents first. If blocks were allocated differently, another one
	// may show the error.
	for _, exact := range []bool{true, false} {
		if f, err = x.reproduceCrash(ctx, r, e, exact); f != nil || err != nil {
			return f, err
		}
	}
	return nil, nil
}

// reproduceCrash tries crash states in the window and the epoch of an error's crash: with exact,
// those with the same contents, else the others. It returns the first failure that matches the
// error, else nil.
func (x *explorer) reproduceCrash(ctx context.Context, r *execution, e Error,
	exact bool) (f *failureContext, err error) {
	by, err := newExaminer(ctx, x) // a judge needs the log from its beginning
	if err != nil {
		return nil, err
	}
	options := viewed(x.Crash, e.Crash.Perspective)
	_, err = x.session.disks.crashes(r, options, func(c crashCase) error {
		if c.window != e.Crash.Window || c.Epoch.String() != e.Crash.Epoch ||
			exact != (c.sum() == e.Crash.Contents) {
			return x.stopped()
		}
		bad, err := by.checkAgain(ctx, c, e, exact)
		switch {
		case err != nil:
			return err
		case bad == nil: // there may be hundreds of states, of which each takes seconds
			return x.stopped()
		}
		if f = sameKind(&failureContext{Failure: bad.Failure, execution: r}, e); f != nil {
			f.disk = bad.keep(x.session)
			f.disk.Perspective = e.Crash.Perspective
			return errFailureFound
		}
		return nil
	})
	if f != nil {
		err = nil
	}
	return f, err
}

// sameKind returns f if it matches an error, else nil.
func sameKind(f *failureContext, e Error) *failureContext {
	if f.Failure = f.Failure.pick(e.Kind, e.Property); f.Failure == nil {
		return nil
	}
	return f
}

// checkAgain checks a crash state. With exact, the recovery first takes the choices of the error,
// since earlier ones may show another failure.
func (by *examiner) checkAgain(ctx context.Context, c crashCase, e Error,
	exact bool) (*badDisk, error) {
	// No check of a replay makes a mount fail, or inspects, by itself.
	_, fault := mountFaultOf(e.Crash.Choices)
	exact = exact && len(e.Crash.Choices) > 0
	if (exact || fault || inspects(e.Crash.Choices)) && e.Crash.Second == nil && !by.x.HostOnly {
		choices := new(Chooser)
		choices.Replay(e.Crash.Choices)
		bad, _, err := by.recover(ctx, c, choices)
		var diverged *DivergedError
		if bad != nil || err != nil && !errors.As(err, &diverged) {
			return bad, err
		}
	}
	bad, _, err := by.check(ctx, c)
	return bad, err
}

// Bounds of the replays of an error after it was found.
const (
	confirmReplays = 3
	confirmTime    = time.Minute
)

// confirm replays an error, and counts how often it shows.
func (x *explorer) confirm(ctx context.Context, e *Error) error {
	all := x.stop
	defer func() { x.stop = all }()
	var cancel context.CancelFunc
	x.stop, cancel = context.WithTimeout(all, confirmTime)
	defer cancel()
	most := confirmReplays
	if e.Surprise {
		most = 1
	}
	for x.stopped() == nil && e.Replays < most {
		f, err := x.reproduce(ctx, *e)
		switch stopped := x.stopped(); {
		case stopped != nil && errors.Is(err, stopped):
			return nil
		case slow(err):
			continue
		case err != nil && !incomparable(err):
			return err
		}
		if e.Replays++; f != nil {
			e.Shown++
		}
	}
	return nil
}
