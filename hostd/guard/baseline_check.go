package guard

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"fsward/blocktap/overlay"
	"fsward/change"
	"fsward/hostd/memory"
	"fsward/interp"
	"fsward/interp/detect"
)

// A pass judges the whole state that a file system had at one moment, as Check does with an image, while its
// guest goes on. What it finds was there before: it is reported as a finding of the baseline, and no commit is
// refused for it. See docs/decisions/0019.
type baselineCheck struct {
	guards []*Guard // of the disks of the file system
	fs     string
	rules  RulesConfig
	memory memory.Limits
	limits interp.Limits
	log    *zap.Logger
	every  time.Duration // between reports of progress
	pause  time.Duration // before another attempt
	limit  uint64        // bytes kept of each disk
	// skipLog: the log was judged when the disk was attached, and is not to hide what is found in the trees.
	skipLog bool

	current atomic.Pointer[attempt]

	stop context.CancelFunc
	done chan struct{}

	mu     sync.Mutex
	status Progress
}

const (
	// maxAttempts bounds how often a pass begins anew because the guest rewrote too much.
	maxAttempts  = 3
	attemptPause = time.Second
)

// errMemory ends an attempt: a commit comes first.
var errMemory = errors.New("a commit needs the memory")

// An attempt is a pass over one state.
type attempt struct {
	ctx    context.Context
	fail   context.CancelCauseFunc
	disks  []*snapshot
	memory *interp.MemoryBudget
}

// kept is how many bytes of the old state the guest has written over.
func (a *attempt) kept() (bytes uint64) {
	for _, f := range a.disks {
		bytes += f.disk.Changed()
	}
	return bytes
}

// freeze begins an attempt: the state is that of now. It is called while no write is under way.
func (p *baselineCheck) freeze(ctx context.Context, needs func(disk int) func(off, n uint64) bool) (*attempt, error) {
	a := &attempt{memory: p.memory.BaselineBudget(p.limits)}
	a.ctx, a.fail = context.WithCancelCause(ctx)
	for _, g := range p.guards {
		disk, err := overlay.New(g.base)
		if err != nil {
			p.thaw(a)
			return nil, err
		}
		f := &snapshot{disk: disk, start: interp.Address(g.disk, 0), needs: needs(g.disk), limit: p.limit, fail: a.fail}
		a.disks = append(a.disks, f)
		g.snapshot.Store(f)
	}
	p.current.Store(a)
	return a, nil
}

// thaw ends an attempt.
func (p *baselineCheck) thaw(a *attempt) {
	for i, f := range a.disks {
		p.guards[i].snapshot.CompareAndSwap(f, nil)
		// A write that is under way may still be kept: its error is nobody's then.
		_ = f.disk.Close()
	}
	a.fail(nil)
	a.memory.Release()
}

// yield ends the present attempt for want of memory: a commit comes first.
func (p *baselineCheck) yield() {
	if a := p.current.Load(); a != nil {
		a.fail(errMemory)
	}
}

// run judges, and begins anew where the guest rewrote too much meanwhile.
func (p *baselineCheck) run(ctx context.Context, a *attempt, again func() (*attempt, error)) {
	defer close(p.done)
	for n := 1; ; n++ {
		ev, err := p.judge(a)
		if cause := context.Cause(a.ctx); cause != nil {
			err = cause // whatever was found may not be the state's
		}
		p.mu.Lock()
		p.status.KeptB = a.kept()
		p.mu.Unlock()
		p.thaw(a)
		switch {
		case ctx.Err() != nil:
			p.end(&Event{Kind: KindNote, Outcome: change.Holds, Note: fmt.Sprintf("the check of the baseline was interrupted at %.0f %%", p.Status().Percent)}, PhaseInterrupted)
			return
		case errors.Is(err, interp.ErrNoState):
			ev = &Event{Kind: KindNote, Outcome: change.Holds, Note: "the baseline is not checked: " + err.Error()}
		case (errors.Is(err, errMoved) || errors.Is(err, errMemory)) && n < maxAttempts:
			p.log.Info("the check of the baseline begins anew", zap.Error(err))
			select {
			case <-ctx.Done():
			case <-time.After(p.pause):
			}
			if a, err = again(); err == nil {
				continue
			}
			fallthrough
		case err != nil:
			ev = &Event{Kind: KindBaseline, Outcome: change.Undecided, Undecided: []string{err.Error()}}
		}
		p.end(ev, PhaseDone)
		return
	}
}

func (p *baselineCheck) judge(a *attempt) (*Event, error) {
	start := time.Now()
	p.mu.Lock()
	p.status = Progress{Phase: PhaseReading, began: start, told: start}
	p.mu.Unlock()
	pace := &throttle{ctx: a.ctx, requests: p.requests, began: start}
	config := p.rules
	config.Patient, config.Memory = true, p.memory.Disk()
	config.Progress = func(done, total int) {
		_ = pace.rest() // the rules end with the context
		p.progress(a, PhaseJudging, judgedPart(done, total))
	}
	rules, err := config.Load()
	if err != nil {
		return nil, err
	}
	var disks []interp.Disk
	for _, f := range a.disks {
		disks = append(disks, throttledDisk{f.disk, pace})
	}
	set, err := interp.NewSet(disks...)
	if err != nil {
		return nil, err
	}
	fs, obs, err := detect.ImageWith(set, p.fs, interp.ImageOptions{
		SkipLog: p.skipLog,
		InUse:   true,
		Budget:  a.memory, CacheBytes: p.memory.BaselineCache(),
		Progress: func(done, total uint64) {
			p.progress(a, PhaseReading, readPart(done, total))
		},
	})
	if err != nil {
		return nil, err
	}
	interpreted := time.Since(start)
	ev := judge(a.ctx, rules, fs, obs, nil)
	ev.Kind = KindBaseline
	place(ev, 0, func(i int) string { return p.guards[i].name })
	ev.InterpNS, ev.CheckNS = interpreted.Nanoseconds(), time.Since(start).Nanoseconds()
	return ev, nil
}

func (p *baselineCheck) requests() (n uint64) {
	for _, g := range p.guards {
		n += g.requests()
	}
	return n
}

// progress notes how far the pass is, and reports it now and then.
func (p *baselineCheck) progress(a *attempt, phase string, part float64) {
	now := time.Now()
	p.mu.Lock()
	tell := p.status.reach(phase, part, now, p.every)
	if tell {
		p.status.KeptB = a.kept()
	}
	status := p.status
	p.mu.Unlock()
	if tell {
		p.report(&Event{Kind: KindProgress, Outcome: change.Holds, Progress: &status,
			Note: fmt.Sprintf("the baseline is being checked (%s): %.0f %%, about %s left", status.Phase, status.Percent, leftText(status.LeftNS))})
	}
}

func (p *baselineCheck) end(ev *Event, phase string) {
	p.mu.Lock()
	p.status.Phase, p.status.LeftNS = phase, 0
	if phase == PhaseDone {
		p.status.Percent, p.status.Verdict = 100, ev.Outcome.String()
	}
	p.mu.Unlock()
	p.report(ev)
}

func (p *baselineCheck) report(ev *Event) {
	ev.Disk, ev.FS = p.guards[0].name, p.fs
	p.guards[0].report(ev)
}

// Status tells how far the pass is.
func (p *baselineCheck) Status() Progress {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.status
}
