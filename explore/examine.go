package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"fsward/explore/crash"
)

// A failureContext is a failure with the execution and the crash that led to it.
type failureContext struct {
	*Failure
	*execution
	disk    *crashDisk    // nil: the machine did not crash
	process *ProcessCrash // nil: no process crashed
}

// errFailureFound ends an enumeration of crash states.
var errFailureFound = errors.New("a failure was found")

// checkCrashes tries the crashes that an execution requested, up to the first failure. recovered is
// the most sectors that a recovery wrote.
func (x *explorer) checkCrashes(ctx context.Context,
	r *execution) (f *failureContext, recovered uint64, err error) {
	if len(r.windows) == 0 {
		return nil, 0, nil
	}
	if found, err := x.session.target.finish(ctx); err != nil || found != nil {
		r.kernel = slices.Clone(x.session.target.kernel)
		return &failureContext{Failure: found, execution: r}, 0, err
	}
	r.kernel = slices.Clone(x.session.target.kernel)
	by, err := newExaminer(ctx, x)
	if err != nil {
		return nil, 0, err
	}
	by.exploring = true
	if x.Inspect {
		by.shape = r.shape()
	}
	begin, visiting := time.Now(), time.Duration(0)
	options, few := x.crashOptions(r)
	stats, err := x.session.disks.crashes(r, options, func(c crashCase) error {
		visit := time.Now()
		defer func() { visiting += time.Since(visit) }()
		if err := x.stopped(); err != nil {
			return err
		}
		bad, wrote, err := by.check(ctx, c)
		if x.unjudged(err, len(r.steps)) {
			x.totals.CrashStates--
			return nil
		}
		if err != nil {
			return err
		}
		by.count(c)
		recovered = max(recovered, wrote)
		switch {
		case bad == nil:
			return nil
		case bad.Surprise:
			r.noteSurprises(x.session, bad)
			return nil
		}
		f = r.crashFailure(bad, bad.keep(x.session))
		return errFailureFound
	})
	if errors.Is(err, errFailureFound) {
		err = nil
	}
	x.totals.Forming += (time.Since(begin) - visiting).Seconds()
	x.totals.Pruned += uint64(stats.Repeated)
	if r.cut = few && stats.Sampled > 0; !r.cut { // the repetition counts them
		x.totals.Possible = crash.AddPossible(x.totals.Possible, stats.Possible)
		x.totals.Sampled += uint64(stats.Sampled)
	}
	return f, recovered, err
}

// crashFailure returns the context of a failure of a crash state.
func (r *execution) crashFailure(bad *badDisk, copied *crashDisk) *failureContext {
	return &failureContext{Failure: bad.Failure, execution: r, disk: copied}
}

// An examiner checks the crash states of one execution.
type examiner struct {
	x          *explorer
	judge      Judge       // nil: there is none
	recovering *recovering // nil: crashes during recovery are not tried
	// exploring: states like those that were seen need not be recovered. The replay of an error and
	// its minimization recover each one, since a wrong recovery can make different disks of them.
	exploring bool
	shape     string // of the execution's steps; "": no crash state is inspected
	// closely: each crash state is inspected, to make a failure smaller that an inspection has shown.
	closely bool
}

// count counts a crash for each property that it is tried for.
func (by *examiner) count(c crashCase) {
	x := by.x
	x.triedCrashes[c.property()]++
	if by.judge != nil {
		x.triedCrashes[Invariant]++
	}
	if !x.HostOnly {
		x.triedCrashes[Recovered]++
	}
	if !x.HostOnly && x.ReadCommitted != nil {
		x.triedCrashes[Committed]++
	}
}

func newExaminer(ctx context.Context, x *explorer) (*examiner, error) {
	by := &examiner{x: x}
	if x.RecoveryCrashes {
		by.recovering = newRecovering(ctx, x)
	}
	if x.NewJudge == nil {
		return by, nil
	}
	var err error
	by.judge, err = x.NewJudge(ctx, x.session.disks.crashBases())
	return by, err
}

// A badDisk is a crash state that shows a failure.
type badDisk struct {
	*Failure
	crashCase
	choices []Choice // of the recovery and the check
}

// count counts a crash state, and reports the progress if it is time.
func (x *explorer) count(c crashCase) {
	x.pulse.beat()
	x.totals.CrashStates++
	if x.CrashFrom == FromWriteSet && len(c.Early()) > 0 {
		x.totals.Early++
	}
}

// check checks one crash state: it judges it on the host, and then recovers it and asks the
// checker, once for each sequence of their choices. bad is nil if nothing is wrong. wrote is the
// number of sectors that the recovery wrote.
func (by *examiner) check(ctx context.Context,
	c crashCase) (bad *badDisk, wrote uint64, err error) {
	x := by.x
	key, known := c.key()
	key += fmt.Sprintf("%d %s", x.session.disks.used, c.sum())
	if known && !x.NoPrune && by.exploring && (x.memo.has(key) || x.surprised.has(key)) {
		x.totals.Pruned++
		return nil, 0, nil
	}
	x.count(c)
	if bad, err = by.judgeState(ctx, c); err != nil || bad != nil {
		return bad, 0, err
	}
	disk, alike := by.recoveredKeys(c, known)
	if by.exploring && by.alike(ctx, c, disk, alike) {
		x.totals.Alike++
		if known {
			by.remember(!x.surprised.has(alike), key)
		}
		return nil, 0, nil
	}
	choices := new(Chooser)
	if by.closely {
		choices = chooseInspection()
	}
	for !x.HostOnly {
		found, some, err := by.recover(ctx, c, choices)
		var diverged *DivergedError
		switch wrote = max(wrote, some); {
		case errors.As(err, &diverged): // the same choices led elsewhere
			x.noteDiverged(err, 0)
			return nil, wrote, nil
		case err != nil || found != nil && !found.Surprise:
			return found, wrote, err
		case bad == nil:
			bad = found // a surprise, after which the other choices are tried, too
		}
		if by.closely || !choices.Next() {
			break
		}
	}
	if !x.HostOnly { // after a surprise, too: some file systems are repaired after each crash
		if found, err := by.inspect(ctx, c); err != nil || found != nil {
			return found, wrote, err
		}
	}
	if bad == nil && !x.HostOnly {
		if bad, err = by.checkMountFaults(ctx, c); err != nil || bad != nil && !bad.Surprise {
			return bad, wrote, err
		}
	}
	if known {
		by.remember(bad == nil, key, alike)
	}
	if disk != "" && bad == nil {
		x.recollection.keep(disk, x.session.told)
	}
	return bad, wrote, nil
}

// judgeState judges a crash state by the invariants, if there are any. bad is nil if they hold.
func (by *examiner) judgeState(ctx context.Context, c crashCase) (bad *badDisk, err error) {
	if by.judge == nil {
		return nil, nil
	}
	begin := time.Now()
	j, err := by.judge.Judge(ctx, c.State)
	by.x.totals.Judging += time.Since(begin).Seconds()
	by.x.totals.addJudgment(j)
	if err == nil && j.Failure != nil {
		bad = &badDisk{j.Failure.withProperty(Invariant), c, nil}
	}
	return bad, err
}

// remember keeps the keys of a crash state that recovered, with or without a surprise.
func (by *examiner) remember(well bool, keys ...string) {
	for _, key := range keys {
		switch {
		case key == "":
		case well:
			by.x.memo.add(key)
		default:
			by.x.surprised.add(key)
		}
	}
}

// recover recovers a crash state with choices, and asks the checker.
func (by *examiner) recover(ctx context.Context, c crashCase,
	choices *Chooser) (bad *badDisk, wrote uint64, err error) {
	if by.recovering != nil {
		return by.recovering.check(c, choices)
	}
	found, logs, err := by.x.recover(ctx, c.State, c.Crash, choices)
	if err == nil && found != nil {
		bad = &badDisk{found, c, choices.Taken()}
	}
	return bad, written(logs.records), err
}

// recover recovers a crash state and asks the checker. The history has the logs of the recovery,
// if it is logged.
func (x *explorer) recover(ctx context.Context, disk *crash.State,
	about Crash, choices *Chooser) (*Failure, history, error) {
	begin := time.Now()
	x.totals.Recovered++
	found, logs, err := x.session.recovered(ctx, disk, x.committed(disk), about, choices)
	x.totals.Recovering += time.Since(begin).Seconds()
	x.totals.Checking += x.session.checking.Seconds()
	return found, logs, err
}
