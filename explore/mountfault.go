package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fsward/explore/agent"
	"fsward/explore/crash"
	"fsward/explore/ekm"
)

// A crash state that is recovered for the first time is mounted and unmounted once before, with one
// call inside the kernel failing. That mount or unmount may fail. What it leaves must recover as
// the crash state does.

// mountFaultSite begins the site of the choice of the call that fails. Its call stack follows.
const mountFaultSite = "call that fails in an earlier mount and unmount: "

// mountFaultsPerState is how many calls fail for one crash state, one after the other. Each call
// site fails once in a run.
const mountFaultsPerState = 4

// A mountFaultInjector makes a call inside the kernel fail during mount(2), umount(2) and the
// commands of a component, and records which calls could have failed.
type mountFaultInjector struct {
	passThrough
	points []ekm.Point
	at     int // number of the hit that fails, counted over all requests; -1: none fails
	hits   []agent.Hit
}

var (
	mountCode   = agent.Mount("", "", "", 0, "").Code
	unmountCode = agent.Unmount("", 0).Code
)

// batch puts the operations that start and end the injection around a mount or an unmount. The
// caches of the kernel are dropped before, so that it reads from the disk.
func (f *mountFaultInjector) batch(_ *Env, r request, next sendBatch) (agent.Done, error) {
	if len(r.Ops) != 1 || r.Ops[0].Code != mountCode && r.Ops[0].Code != unmountCode {
		return next(r)
	}
	var p padded
	p.add(agent.DropCaches())
	p.add(agent.FailAt(f.points, f.left()))
	p.own(r.Ops[0])
	p.add(agent.FailEnd())
	r.Ops, r.StopAtError = p.ops, false
	done, err := next(r)
	done.Results, err = p.strip(done.Results, err, func(op agent.Op, result agent.Result) error {
		if op.Code != agent.FailEnd().Code {
			return nil
		}
		hits, err := agent.DecodeHits(result.Data)
		f.hits = append(f.hits, hits...)
		return err
	})
	return done, err
}

// left returns the hit that is still to fail, numbered from the last one that was seen.
func (f *mountFaultInjector) left() []uint32 {
	if seen := len(f.hits); f.at >= seen {
		return []uint32{uint32(f.at - seen)}
	}
	return nil
}

// command makes a call fail while a command of a recovery, a mount or an unmount runs.
func (f *mountFaultInjector) command(e *Env, c agent.Command, next sendCommand) (agent.Exit,
	error) {
	if _, err := e.ask(agent.DropCaches()); err != nil {
		return agent.Exit{}, err
	}
	c.Faults = &agent.Faults{Points: f.points, At: f.left()}
	exit, err := next(c)
	if err != nil {
		return exit, err
	}
	hits, err := agent.DecodeHits(exit.Hits)
	f.hits = append(f.hits, hits...)
	return exit, err
}

// chooseMountFault makes the next recovery begin with an earlier mount and unmount in which a call
// fails. Its call stack identifies it. With stack 0, no call fails.
func chooseMountFault(stack uint64) *Chooser {
	c := new(Chooser)
	c.Replay([]Choice{{N: 2, Value: 1, Site: mountFaultSite + strconv.FormatUint(stack, 16)}})
	return c
}

// mountFaultOf returns the call stack of the call that fails in an earlier mount, if the first of
// these choices is one of chooseMountFault.
func mountFaultOf(choices []Choice) (stack uint64, ok bool) {
	if len(choices) == 0 {
		return 0, false
	}
	text, ok := strings.CutPrefix(choices[0].Site, mountFaultSite)
	stack, err := strconv.ParseUint(text, 16, 64)
	return stack, ok && err == nil
}

// mountBefore mounts and unmounts a crash state before it is recovered. The first time no call
// fails, and it notes the hits in s.mountHits. Then it loads the crash state again, and makes the
// first call with the call stack fail. It returns the Env for the recovery. It diverges if there is
// no such call.
func (s *session) mountBefore(ctx context.Context, disk *crash.State, stack uint64,
	choices *Chooser) (*Env, *Failure, error) {
	choices.Choose(2, mountFaultSite+strconv.FormatUint(stack, 16))
	f, err := s.mountWithFault(ctx, -1)
	if f != nil || err != nil {
		return nil, f, err
	}
	if stack != 0 {
		at := slices.IndexFunc(s.mountHits, func(h agent.Hit) bool { return h.Stack == stack })
		if at < 0 {
			got := Choice{Site: "a mount without that call"}
			return nil, nil, &DivergedError{Want: choices.want[0], Got: got}
		}
		if _, err := s.putIn(ctx, disk, choices, s.logRecovery); err != nil {
			return nil, nil, err
		}
		if f, err := s.mountWithFault(ctx, at); f != nil || err != nil {
			return nil, f, err
		}
	}
	e := s.target.choosing(ctx, s.target.system, choices)
	e.windows.closed = true
	return e, nil, nil
}

// mountWithFault mounts and unmounts the stack while the hit with a number fails; -1: none does. It
// returns a failure if the kernel reports a bug, or if a component stays mounted. It keeps the hits
// in s.mountHits.
func (s *session) mountWithFault(ctx context.Context, at int) (*Failure, error) {
	f := &mountFaultInjector{points: s.faulty.points, at: at}
	faulty := newEnv(ctx, s.target.system, new(Chooser),
		interceptors{mounts: f, limit: s.target.limit})
	defer func() { s.mountHits = f.hits }()
	// Whatever fails here fails again in the recovery without the fault.
	_ = s.target.stack.up(func(c Component) error { return c.Recover(faulty) })
	var mounted []Component
	_ = s.target.stack.up(func(c Component) error {
		err := c.Mount(faulty)
		if err == nil {
			mounted = append(mounted, c)
		}
		return err
	})
	for _, c := range slices.Backward(mounted) {
		if c.Unmount(faulty) == nil || faulty.Err() != nil {
			continue
		}
		again := s.target.env(ctx)
		if err := c.Unmount(again); err != nil {
			s.target.dead = true
			return s.target.failure(again, "unmount failed", err), fatal(again)
		}
	}
	return s.target.failure(faulty, "", nil), fatal(faulty)
}

// failedSite names the call that failed; "": none did.
func failedSite(hits []agent.Hit) string {
	i := slices.IndexFunc(hits, func(h agent.Hit) bool { return h.Failed })
	if i < 0 {
		return ""
	}
	return hits[i].Site
}

// checkMountFaults recovers a crash state after mounts and unmounts in which a call failed, each at
// a call site that has not failed yet.
func (by *examiner) checkMountFaults(ctx context.Context, c crashCase) (bad *badDisk, err error) {
	x := by.x
	if !by.exploring || x.MaxFaults == 0 || x.siteless >= mountFaultsPerState {
		return nil, nil
	}
	try := func(stack uint64) (*badDisk, error) {
		found, _, err := x.recover(ctx, c.State, c.Crash, chooseMountFault(stack))
		var diverged *DivergedError
		if errors.As(err, &diverged) {
			x.noteDiverged(err, 0)
			return nil, nil
		}
		if x.unjudged(err, 0) {
			return nil, nil
		}
		if err != nil || found == nil {
			return nil, err
		}
		if site := failedSite(x.session.mountHits); site != "" {
			found.Text += fmt.Sprintf("\nbefore, the call at %s had failed in a mount or unmount", site)
		}
		return &badDisk{found, c, chooseMountFault(stack).want}, nil
	}
	if bad, err = try(0); bad != nil || err != nil {
		return bad, err
	}
	tried := 0
	for _, h := range slices.Clone(x.session.mountHits) {
		if x.mountSites[h.Stack] || !canFail(h) {
			continue
		}
		if tried == mountFaultsPerState {
			break
		}
		tried++
		x.mountSites[h.Stack] = true
		x.totals.MountFaults++
		if bad, err = try(h.Stack); bad != nil && !bad.Surprise || err != nil {
			return bad, err
		}
	}
	x.siteless++
	if tried > 0 {
		x.siteless = 0
	}
	return bad, nil
}
