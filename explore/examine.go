package explore

import (
	"context"
	"errors"
	"slices"
	"time"

	"fsward/explore/crash"
	"fsward/explore/ramdisk"
)

// A failureContext is an error with what led to it.
type failureContext struct {
	*Failure
	*execution
	disk    *crashDisk // nil: the machine did not crash
	process *ProcessCrash
}

var errFailureFound = errors.New("an error was found")

// checkCrashes tries the crashes that a run asked for, up to the first error. recovered is the most that a recovery wrote, in sectors.
func (x *explorer) checkCrashes(ctx context.Context, r *execution) (f *failureContext, recovered uint64, err error) {
	if len(r.windows) == 0 {
		return nil, 0, nil
	}
	if found, err := x.session.target.finish(ctx); err != nil || found != nil {
		r.kernel = slices.Clone(x.session.target.kernel)
		return &failureContext{Failure: found, execution: r}, 0, err
	}
	r.kernel = slices.Clone(x.session.target.kernel)
	by, err := x.newExaminer(ctx)
	if err != nil {
		return nil, 0, err
	}
	stats, err := x.session.disks.crashes(r, x.Crash, func(c crashCase) error {
		if err := x.stopped(); err != nil {
			return err
		}
		bad, wrote, err := x.checkCrash(ctx, by, c)
		if err != nil {
			return err
		}
		x.countCrash(c, by.judge)
		recovered = max(recovered, wrote)
		if bad != nil {
			f = &failureContext{Failure: bad.Failure, execution: r, disk: x.session.keepDisk(bad.crashCase)}
			return errFailureFound
		}
		return nil
	})
	if errors.Is(err, errFailureFound) {
		err = nil
	}
	x.totals.Pruned += uint64(stats.Repeated)
	x.totals.Possible += stats.Possible
	x.totals.Sampled += uint64(stats.Sampled)
	return f, recovered, err
}

// count notes for what a crash was tried.
func (x *explorer) countCrash(c crashCase, judge Judge) {
	x.asked[c.property()]++
	if judge != nil {
		x.asked[Invariant]++
	}
	if !x.HostOnly {
		x.asked[Recovered]++
	}
}

// An examiner is what looks at the crash disks of one run.
type examiner struct {
	judge      Judge       // nil: there is none
	recovering *recovering // nil: no crashes during recovery are tried
}

func (x *explorer) newExaminer(ctx context.Context) (*examiner, error) {
	by := new(examiner)
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

// A badDisk is a crash disk on which an error shows.
type badDisk struct {
	*Failure
	crashCase
}

// checkCrash judges one crash disk: on the host, then by its recovery and by the checker. bad is nil where nothing is wrong with it.
func (x *explorer) checkCrash(ctx context.Context, by *examiner, c crashCase) (bad *badDisk, wrote uint64, err error) {
	key, known := c.key()
	key += c.sum()
	if known && !x.NoPrune && x.memo.has(key) {
		x.totals.Pruned++
		return nil, 0, nil
	}
	x.totals.CrashStates++
	if x.CrashFrom == FromWriteSet && len(c.Early()) > 0 {
		x.totals.Early++
	}
	if by.judge != nil {
		x.totals.Judged++
		j, err := by.judge.Judge(ctx, c.State)
		if j.Undecided {
			x.totals.Undecided++
		}
		if j.Pruned {
			x.totals.Pruned++
		}
		if err != nil || j.Failure != nil {
			return &badDisk{j.Failure.withProperty(Invariant), c}, 0, err
		}
	}
	switch {
	case x.HostOnly:
	case by.recovering != nil:
		bad, wrote, err = by.recovering.check(c)
	default:
		var found *Failure
		var records []ramdisk.Record
		if found, records, err = x.recover(ctx, c.State, c.Crash); found != nil {
			bad = &badDisk{found, c}
		}
		wrote = written(records)
	}
	if err == nil && bad == nil && known {
		x.memo.add(key)
	}
	return bad, wrote, err
}

// recover recovers and checks a disk. What its recovery read and wrote is told where it is logged.
func (x *explorer) recover(ctx context.Context, disk *crash.State, about Crash) (*Failure, []ramdisk.Record, error) {
	begin := time.Now()
	x.totals.Recovered++
	found, records, err := x.session.recovered(ctx, disk, about)
	x.totals.Recovering += time.Since(begin).Seconds()
	return found, records, err
}
