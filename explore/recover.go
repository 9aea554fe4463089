package explore

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"fsward/explore/agent"
	"fsward/explore/crash"
)

// recovered loads a crash state, recovers and mounts it, compares its tree with must, and asks the
// checker. All of them take choices. logs are those of the recovery, if it is logged. must is
// nil if no tree is known that the recovery must give.
func (s *session) recovered(ctx context.Context, disk *crash.State, must *CommittedTree,
	about Crash, choices *Chooser) (f *Failure, logs history, err error) {
	s.checking, s.told = 0, nil
	e, err := s.putIn(ctx, disk, choices, s.logRecovery)
	if err != nil {
		return nil, logs, err
	}
	if stack, ok := mountFaultOf(choices.want); ok {
		e, f, err = s.mountBefore(ctx, disk, stack, choices)
		if f != nil || err != nil {
			return f.withProperty(Recovered), logs, err
		}
	}
	closely := takeInspection(choices)
	quickly := func(e *Env, c Component) error { return c.Recover(e) }
	f = s.recovery.mount(e, quickly).withProperty(Recovered)
	var quick map[string]agent.Entry // the recovered tree; nil: it is not compared
	if f == nil && fatal(e) == nil {
		if logs, err = s.recorder.history(ctx); err != nil {
			return nil, logs, err
		}
		if s.verify && s.recovery.stack.repairs() || must != nil {
			quick, err = s.recovery.tree(e)
			f = s.recovery.failure(e, "unreadable", err).withProperty(Recovered)
		}
		if f == nil {
			f = must.check(quick)
		}
	}
	if f == nil && fatal(e) == nil {
		began := time.Now()
		err := s.recovery.stack.Checker.Check(e, about)
		s.checking, s.told = time.Since(began), s.ahead.told()
		f = s.recovery.failure(e, "check failed", err).withProperty(about.property())
	}
	if f == nil && fatal(e) == nil && closely {
		f = s.recovery.use(e)
	}
	if err := fatal(e); err != nil {
		return nil, logs, err
	}
	if s.recovery.dead {
		return f, history{}, nil
	}
	f, surprise := f.orSurprise(e, about.property(), s.isError)
	e = s.recovery.choosing(ctx, e.system, choices) // an unmount that was sent ahead is known there
	unmounted, err := s.recovery.unmount(e, (s.verify || closely) && f == nil)
	if f == nil {
		f = unmounted.withProperty(Recovered)
	}
	if f == nil && err == nil && s.verify && s.recovery.stack.repairs() {
		f, err = s.compareRepair(ctx, disk, choices, quick)
		f = f.withProperty(Recovered)
	}
	if f == nil {
		f = surprise
	}
	return f, logs, errors.Join(err, choices.err)
}

// putIn unmounts the stack, and loads a crash state. With log, both logs are on from
// then on. Crashes cannot be requested through the Env.
func (s *session) putIn(ctx context.Context, disk *crash.State, choices *Chooser,
	log bool) (*Env, error) {
	if _, err := s.recovery.unmount(s.recovery.env(ctx), false); err != nil {
		return nil, err
	}
	s.recovery.forgetTexts()
	pages := s.disks.pages(disk)
	if err := s.load(ctx, pages); err != nil {
		return nil, err
	}
	if log {
		if err := s.recorder.begin(ctx); err != nil {
			return nil, err
		}
	}
	system := s.recovery.system
	if !log { // reads that are sent ahead would be in the log of the recovery
		reload := func(ctx context.Context) error { return s.load(ctx, pages) }
		s.ahead = s.ahead.next(system, s.recovery.stack.Top.Path(), reload)
		system = s.ahead
	}
	e := s.recovery.choosing(ctx, system, choices)
	e.windows.closed = true
	return e, nil
}

// repairs reports whether the results of a quick and a thorough recovery can be compared: a
// directory is mounted at the top of the stack, and a component has a thorough recovery.
func (s Stack) repairs() bool {
	return !strings.HasPrefix(s.Top.Path(), "/dev/") &&
		slices.ContainsFunc(s.Components(), func(c Component) bool {
			r, ok := c.(Repairer)
			return ok && r.Repairs()
		})
}

// tree returns the entries that are mounted at the top of the stack, by path, without their times.
// A tree that cannot be read at all is empty.
func (t *target) tree(e *Env) (map[string]agent.Entry, error) {
	r, err := e.Try(agent.Tree(t.stack.Top.Path()))
	if err != nil {
		return nil, err
	}
	entries, err := agent.DecodeTree(r[0].Data)
	if err != nil {
		return nil, err
	}
	out := make(map[string]agent.Entry, len(entries))
	for _, entry := range entries {
		entry.Mtime, entry.Ctime, entry.InHole = 0, 0, 0
		out[entry.Path] = entry
	}
	return out, nil
}

// compareRepair recovers a crash state in the thorough way. It returns a failure if the resulting
// tree differs from quick, the tree after the quick recovery. The stack is not mounted.
func (s *session) compareRepair(ctx context.Context, disk *crash.State, choices *Chooser,
	quick map[string]agent.Entry) (*Failure, error) {
	if err := s.load(ctx, s.disks.pages(disk)); err != nil {
		return nil, err
	}
	e := s.recovery.choosing(ctx, s.recovery.system, choices)
	e.windows.closed = true
	f := s.recovery.mount(e, repair)
	if f == nil && fatal(e) == nil {
		thorough, err := s.recovery.tree(e)
		if err == nil {
			if text := differences(quick, thorough); text != "" {
				err = Failuref("recoveries differ", "%s", text)
			}
		}
		f = s.recovery.failure(e, "unreadable", err)
	}
	if err := fatal(e); err != nil {
		return nil, err
	}
	unmounted, err := s.recovery.unmount(s.recovery.env(ctx), false)
	if f == nil {
		f = unmounted
	}
	return f, err
}
