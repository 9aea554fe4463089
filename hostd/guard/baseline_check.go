package guard

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/semaphore"

	"fsward/blocktap/overlay"
	"fsward/change"
	"fsward/hostd/memory"
	"fsward/interp"
	"fsward/interp/detect"
)

// A baselineCheck checks the whole state that a file system had at one moment, as fsward check does
// with an image, while its guest goes on. Each violation that it finds is older than the check: it
// is reported as a finding of the baseline, and no commit is refused for it. See
// docs/decisions/0019.
type baselineCheck struct {
	volumes []*guardedVolume // of the file system, then of its seeds
	own     int              // number of the volumes that are not of seeds
	fs      string
	layout  *detect.Volumes
	rules   *Rules
	memory  memory.Limits
	limits  interp.Limits
	log     *zap.Logger
	every   time.Duration // time between reports of progress
	pause   time.Duration // time before another attempt
	limit   uint64        // bound of the old contents that are kept of each disk, bytes
	// skipLog leaves out the log: it was checked when the disk was attached, and must not hide
	// findings in the trees.
	skipLog bool
	// degraded: devices may be lost.
	degraded bool
	// the mark of the volume in the state of the present attempt; nil: it had none
	unverified *unverified
	recheck    time.Duration // time before another check if the volume stays unverified
	// slots for attempts, which bound the memory of the checks of many volumes
	slots *semaphore.Weighted

	current atomic.Pointer[attempt]
	between func(func()) // calls a function while no write is being performed

	stop context.CancelFunc
	done chan struct{}

	mu     sync.Mutex
	status Progress
	sound  bool // the state was found sound
	undone bool // the last attempt that ended could not decide
}

const (
	// maxAttempts bounds the attempts. A new one begins when the guest overwrites too much, or while
	// a program writes the unmounted disk.
	maxAttempts  = 3
	attemptPause = time.Second
)

// errMemory ends an attempt: a commit needs its memory.
var errMemory = errors.New("a commit needs its memory")

// errWritten ends an attempt: between two writes of a program such as e2fsck -cc or dd, no
// invariant holds. When the file system is mounted, it is a new baseline.
var errWritten = errors.New("a program writes the unmounted file system, which is checked when " +
	"it is mounted")

// errGone ends a check whose file system was erased or replaced before an attempt. Another file
// system has a check of its own.
var errGone = errors.New("the file system is gone")

// tryAgain reports whether another attempt can succeed where one failed with an error.
func tryAgain(err error) bool {
	return errors.Is(err, errMoved) || errors.Is(err, errMemory) || errors.Is(err, errWritten)
}

// An attempt checks the state of one moment.
type attempt struct {
	ctx    context.Context
	fail   context.CancelCauseFunc
	disks  []*snapshot
	memory *interp.MemoryBudget
}

// kept returns how many bytes of the old state the guest has overwritten.
func (a *attempt) kept() (bytes uint64) {
	for _, f := range a.disks {
		bytes += f.disk.Changed()
	}
	return bytes
}

// takeSnapshots begins an attempt on the present state. It is called while no write is being
// performed. The attempt has a turn, which ends with release or an error.
func (c *baselineCheck) takeSnapshots(ctx context.Context) (*attempt, error) {
	if c.layout.On(c.volumes[0].number) != c.fs {
		c.slots.Release(1)
		return nil, errGone
	}
	a := &attempt{memory: c.memory.BaselineBudget(c.limits)}
	a.ctx, a.fail = context.WithCancelCause(ctx)
	for i, v := range c.volumes {
		disk, err := overlay.New(c.layout.Disk(v.number))
		if err != nil {
			c.release(a)
			return nil, err
		}
		f := &snapshot{
			disk:  disk,
			start: interp.Address(v.number, 0),
			needs: c.layout.Needs(v.number),
			limit: c.limit,
			fail:  a.fail,
		}
		a.disks = append(a.disks, f)
		if i < c.own { // nobody writes a seed, whose own check may have a snapshot
			v.snapshot.Store(f)
		}
	}
	c.unverified = c.volumes[0].unverified.Load()
	c.current.Store(a)
	return a, nil
}

// release ends an attempt and drops its snapshots.
func (c *baselineCheck) release(a *attempt) {
	for i, f := range a.disks {
		c.volumes[i].snapshot.CompareAndSwap(f, nil)
		// A write that is being performed may still try to keep something; nobody reads its error then.
		_ = f.disk.Close()
	}
	a.fail(nil)
	a.memory.Release()
	c.slots.Release(1)
}

// yield ends the present attempt because a commit needs its memory.
func (c *baselineCheck) yield() {
	if a := c.current.Load(); a != nil {
		a.fail(errMemory)
	}
}

// run makes the first attempt, and another one if the guest overwrote too much meanwhile, or if the
// volume is unverified. a is the first attempt; nil: ctx has ended.
func (c *baselineCheck) run(ctx context.Context, a *attempt, again func() (*attempt, error)) {
	defer close(c.done)
	for n := 1; a != nil; n++ {
		ev, err := c.attempt(a)
		if ctx.Err() == nil && (err != nil || ev.Outcome == change.Undecided) {
			c.between(func() {}) // the write that is being performed may take the volume away
		}
		if cause := context.Cause(a.ctx); cause != nil {
			err = cause // the result may not be that of the state
		}
		c.mu.Lock()
		c.status.KeptB = a.kept()
		c.mu.Unlock()
		c.release(a)
		if n < maxAttempts && tryAgain(err) {
			c.log.Info("restarting the check of the baseline", zap.Error(err))
			c.rest(ctx, c.pause)
			if a, err = again(); err == nil {
				continue
			}
		}
		switch {
		case ctx.Err() != nil:
			c.interrupted()
			return
		case err != nil:
			ev = notChecked(err)
		}
		c.end(ev, PhaseDone)
		if c.volumes[0].unverified.Load() == nil && ev.Outcome != change.Undecided ||
			ev.Outcome == change.Violated {
			return
		}
		a, n = c.later(ctx, again), 0
	}
	if c.Status().Phase == "" {
		c.interrupted() // it never had its turn
	}
}

// interrupted reports that the guard has ended before the check.
func (c *baselineCheck) interrupted() {
	c.end(&Event{Kind: KindNote, Outcome: change.Holds,
		Note: fmt.Sprintf("the check of the baseline was interrupted at %.0f %%", c.Status().Percent)},
		PhaseInterrupted)
}

// notChecked returns the event of a state that could not be checked. It is undecided, unless there
// is no such state.
func notChecked(err error) *Event {
	if errors.Is(err, interp.ErrNoState) || errors.Is(err, errWritten) || errors.Is(err, errGone) {
		return &Event{Kind: KindNote, Outcome: change.Holds,
			Note: "the baseline is not checked: " + err.Error()}
	}
	return &Event{Kind: KindBaseline, Outcome: change.Undecided, Undecided: []string{err.Error()}}
}

// failed reports that an attempt could not begin.
func (c *baselineCheck) failed(err error) {
	name := volumeName(c.volumes[0].guard.name, c.volumes[0].path())
	c.log.Error("cannot check the baseline", zap.String("volume", name), zap.Error(err))
	c.end(notChecked(err), PhaseDone)
}

// later makes another attempt after a rest. It returns nil once ctx has ended.
func (c *baselineCheck) later(ctx context.Context, again func() (*attempt, error)) *attempt {
	for c.rest(ctx, c.recheck) {
		c.recheck = min(2*c.recheck, maxRecheckPause)
		a, err := again()
		if err == nil {
			return a
		}
		c.failed(err)
		if errors.Is(err, errGone) {
			return nil
		}
	}
	return nil
}

// rest waits, and reports whether the check may go on.
func (c *baselineCheck) rest(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// attempt reads the state and checks it by the rules.
func (c *baselineCheck) attempt(a *attempt) (*Event, error) {
	start := time.Now()
	c.mu.Lock()
	c.status = Progress{Phase: PhaseReading, began: start, reported: start}
	c.mu.Unlock()
	throttle := &throttle{ctx: a.ctx, requests: c.requests, began: start}
	rules, err := c.rules.again(c.memory.Disk(), func(done, total int) {
		_ = throttle.rest() // the rules end with the context
		c.progress(a, PhaseJudging, judgedPart(done, total))
	})
	if err != nil {
		return nil, err
	}
	var disks []interp.Disk
	for _, f := range a.disks {
		disks = append(disks, throttledDisk{f.disk, throttle})
	}
	set, err := interp.NewSet(disks...)
	if err != nil {
		return nil, err
	}
	fs, obs, err := detect.ImageWith(set, c.fs, interp.ImageOptions{
		SkipLog: c.skipLog, Degraded: c.degraded,
		InUse:  true,
		Budget: a.memory, CacheBytes: c.memory.BaselineCache(),
		CompareSnapshots: c.rules.config.BuiltIn(),
		Progress: func(done, total uint64) {
			c.progress(a, PhaseReading, readPart(done, total))
		},
	})
	if err != nil {
		return nil, err
	}
	interpreted := time.Since(start)
	var numbers []int
	for _, v := range c.volumes {
		numbers = append(numbers, v.number)
	}
	c.layout.OnDisks(&obs, numbers)
	g := c.volumes[0].guard
	ev := CheckImage(a.ctx, rules, fs, obs, g.disk, func(i int) string { return g.peers[i].name })
	if ev.Outcome == change.Violated && obs.Unmounted && a.kept() > 0 {
		return nil, errWritten
	}
	ev.Kind = KindBaseline
	ev.InterpNS, ev.CheckNS = interpreted.Nanoseconds(), time.Since(start).Nanoseconds()
	return ev, nil
}

func (c *baselineCheck) requests() (n uint64) {
	for _, v := range c.volumes {
		n += v.guard.requests()
	}
	return n
}

// progress notes the progress of the check, and reports it at intervals.
func (c *baselineCheck) progress(a *attempt, phase string, part float64) {
	now := time.Now()
	c.mu.Lock()
	tell := c.status.reach(phase, part, now, c.every)
	if tell {
		c.status.KeptB = a.kept()
	}
	status := c.status
	c.mu.Unlock()
	if tell {
		c.report(&Event{Kind: KindProgress, Outcome: change.Holds, Progress: &status,
			Note: fmt.Sprintf("the baseline is being checked (%s): %.0f %%, about %s left", status.Phase,
				status.Percent, leftText(status.LeftNS))})
	}
}

func (c *baselineCheck) end(ev *Event, phase string) {
	c.mu.Lock()
	c.status.Phase, c.status.LeftNS = phase, 0
	if phase == PhaseDone {
		c.status.Percent, c.status.Verdict = 100, ev.Outcome.String()
		if ev.Kind != KindBaseline {
			c.status.Verdict = "not checked"
		}
		c.sound = ev.Kind == KindBaseline && ev.Outcome == change.Holds
		c.undone = ev.Outcome == change.Undecided
	}
	c.mu.Unlock()
	if c.unverified != nil && phase == PhaseDone && ev.Kind == KindBaseline {
		c.verified(ev)
	}
	c.report(ev)
}

// verified removes the mark of an unverified volume if the volume is sound. Otherwise it completes
// the finding.
func (c *baselineCheck) verified(ev *Event) {
	if ev.Outcome != change.Holds {
		c.unverified.attribute(ev)
		return
	}
	for _, v := range c.volumes[:c.own] {
		if !v.unverified.CompareAndSwap(c.unverified, nil) {
			return // another write was undecided since
		}
	}
	ev.Note = fmt.Sprintf("the volume is guarded again: it is sound as of commit %d", ev.Generation)
}

// foundSound reports whether the check has found the state sound.
func (c *baselineCheck) foundSound() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sound
}

// lastFailed reports whether the last attempt that has ended could not decide.
func (c *baselineCheck) lastFailed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.undone
}

func (c *baselineCheck) report(ev *Event) {
	v := c.volumes[0]
	ev.Disk, ev.Volume, ev.FS = v.guard.name, v.path(), c.fs
	v.guard.report(v, ev)
}

// Status returns the progress of the check.
func (c *baselineCheck) Status() Progress {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.status
}
