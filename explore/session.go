package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"fsward/explore/agent"
	"fsward/explore/crash"
	"fsward/explore/durable"
	"fsward/explore/ramdisk"
)

// pristine is the name of the snapshots of the disks as Init left them.
const pristine = "fsward-pristine"

// session is a stack on a system.
type session struct {
	stack  Stack
	system System
	disks  []*Disk
	bases  []memory   // what the pristine disks hold
	saved  Checkpoint // of the machine with pristine disks, nothing mounted; nil: it has none

	through bool     // Config.WriteThrough
	dirty   writeSet // what the kernel could write
	up      bool     // the stack is mounted
	logging bool     // bios are logged
	logged  bool     // the log may have records
	work    bool     // what a recovery reads and writes is logged
	verify  bool     // what was recovered is verified
	mounts  []string // lines of what is mounted while the stack is not; nil: nobody knows
	heard   []string // what the kernel said since the last run, or recovery, began
	failing bool     // the kernel is asked what could fail
	soft    bool     // the system calls of the last step are counted
	dead    bool     // the machine has failed, or nobody knows what is mounted

	account  func() *durable.Account // a new one, of the disks joined; nil: none is kept
	guarding *guarding               // nil: no disk is guarded
	restorer restorer
	turns    turns
}

// newSession makes the disks and what stands on them, and keeps that.
func newSession(ctx context.Context, cfg Config) (_ *session, err error) {
	stack, system := cfg.Stack, cfg.System
	if err := stack.Check(); err != nil {
		return nil, err
	}
	s := &session{stack: stack, system: system, disks: stack.Disks(), through: cfg.WriteThrough}
	for _, d := range s.disks {
		if err := system.MakeDisk(ctx, d.Number, d.Bytes); err != nil {
			return nil, err
		}
		s.bases = append(s.bases, make(memory, d.Bytes))
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close(ctx))
		}
	}()
	e := NewEnv(ctx, system, new(Chooser))
	// Mounted once, since what the first mount changes is not to be part of each replay; and so that it is known that it can be.
	if err := stack.up(func(c Component) error { return errors.Join(c.Init(e), c.Mount(e)) }); err != nil {
		return nil, fmt.Errorf("cannot make the stack: %w", err)
	}
	if err := stack.down(func(c Component) error { return c.Unmount(e) }); err != nil {
		return nil, fmt.Errorf("cannot unmount the stack: %w", err)
	}
	for i, d := range s.disks {
		if err := system.ReadDisk(ctx, d.Number, d.Bytes, s.bases[i]); err != nil {
			return nil, err
		}
		if err := system.Snapshot(ctx, d.Number, pristine); err != nil {
			return nil, err
		}
	}
	s.mounts, err = mounts(e)
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	if s.saved, err = system.Save(ctx); errors.Is(err, errors.ErrUnsupported) {
		s.saved, err = nil, nil
	}
	s.restorer.saving.since(begin)
	return s, err
}

// close unmounts and removes the disks. A machine that has failed and cannot be put back keeps them.
func (s *session) close(ctx context.Context) error {
	if s.dead {
		if s.saved == nil {
			return nil
		}
		if err := s.reset(ctx); err != nil {
			return err
		}
	}
	_, err := s.down(ctx)
	err = errors.Join(err, s.dirty.end(ctx, s.disks))
	err = errors.Join(err, s.guarding.end(ctx), s.guarding.close())
	for _, d := range s.disks {
		err = errors.Join(err, s.system.RemoveDisk(ctx, d.Number))
	}
	if s.saved != nil {
		err = errors.Join(err, s.forget(ctx), s.system.Forget(ctx, s.saved))
	}
	return err
}

// reset has a machine that failed work again.
func (s *session) reset(ctx context.Context) error {
	if s.saved == nil {
		return errors.New("the machine has failed, and there is no checkpoint of it")
	}
	if err := s.system.Load(ctx, s.saved); err != nil {
		return fmt.Errorf("the machine has failed, and cannot be put back: %w", err)
	}
	s.dead, s.up, s.logging, s.logged, s.dirty.on, s.dirty.some = false, false, false, false, false, false
	s.turns.held = nil
	s.guarding.lost()
	return s.loadEKM(ctx) // it was not loaded when that was made
}

// load puts pages over the pristine disks. Nothing is mounted, and nothing is logged.
func (s *session) load(ctx context.Context, pages map[uint32][]agent.Page) error {
	if s.dead {
		if err := s.reset(ctx); err != nil {
			return err
		}
	}
	if _, err := s.history(ctx); err != nil { // of what did not get to its end
		return err
	}
	for _, d := range s.disks {
		if err := s.system.Restore(ctx, d.Number, pristine); err != nil {
			return err
		}
		if len(pages[d.Number]) > 0 {
			if err := s.system.WritePages(ctx, d.Number, pages[d.Number]); err != nil {
				return err
			}
		}
	}
	return nil
}

// mount mounts the stack. After a crash each component is repaired by heal before; nil: there was none.
func (s *session) mount(e *Env, heal func(e *Env, c Component) error) *Failure {
	s.up = true
	if heal != nil {
		if err := s.stack.up(func(c Component) error { return heal(e, c) }); err != nil {
			return s.judged(e, "recovery failed", err)
		}
	}
	if err := s.stack.up(func(c Component) error { return c.Mount(e) }); err != nil {
		return s.judged(e, "mount failed", err)
	}
	return s.judged(e, "", nil)
}

// down unmounts the stack.
func (s *session) down(ctx context.Context) (*Failure, error) { return s.unmount(ctx, false) }

// unmount unmounts the stack. If verify is set, each component that can looks at all that it holds, before what it stands on is unmounted.
func (s *session) unmount(ctx context.Context, verify bool) (*Failure, error) {
	if !s.up || s.dead {
		return nil, nil
	}
	e := NewEnv(ctx, s.system, new(Chooser))
	s.up = false
	var wrong error
	err := s.releaseThreads(e)
	if err == nil {
		err = s.stack.down(func(c Component) error {
			if err := c.Unmount(e); err != nil {
				return err
			}
			if v, ok := c.(Verifier); ok && verify && wrong == nil {
				wrong = v.Verify(e)
			}
			return nil
		})
	}
	f := s.judged(e, "unmount failed", err)
	if f != nil {
		s.dead = true
	} else if wrong != nil {
		f = s.judged(e, "not repaired", wrong)
	}
	return f, fatal(e)
}

// mounts are the lines of what is mounted. A machine that has no such file knows of none.
func mounts(e *Env) ([]string, error) {
	text, err := e.ReadFile("/proc/self/mounts")
	if err != nil {
		return nil, e.Err()
	}
	return slices.Collect(strings.Lines(string(text))), nil
}

// left is a mount that is still there, though the stack was unmounted.
func (s *session) left(ctx context.Context) (*Failure, error) {
	if s.mounts == nil || s.dead {
		return nil, nil
	}
	e := NewEnv(ctx, s.system, new(Chooser))
	now, err := mounts(e)
	if err != nil {
		return s.judged(e, "", err), fatal(e)
	}
	before := slices.Clone(s.mounts)
	for _, line := range now {
		if i := slices.Index(before, line); i >= 0 {
			before = slices.Delete(before, i, i+1) // as often as it is there: one can be on top of another like it
		} else {
			s.dead = true // it holds the disk
			return &Failure{Kind: "mount left", Text: "all was unmounted, and this is still there: " + line}, nil
		}
	}
	return nil, nil
}

// finish unmounts the stack without a crash.
func (s *session) finish(ctx context.Context) (*Failure, error) {
	if s.dead || !s.up {
		return nil, nil
	}
	e := NewEnv(ctx, s.system, new(Chooser))
	err := s.stack.Checker.Finish(e)
	if f := s.judged(e, "finish failed", err); f != nil || fatal(e) != nil {
		return f, fatal(e)
	}
	if f, err := s.down(ctx); err != nil || f != nil {
		return f, err
	}
	return s.left(ctx)
}

// recovered puts a disk in, recovers and mounts it, and asks the checker. records are what the recovery read and wrote, if that is logged.
func (s *session) recovered(ctx context.Context, disk *crash.State, about Crash) (f *Failure, records []ramdisk.Record, err error) {
	if _, err := s.down(ctx); err != nil {
		return nil, nil, err
	}
	s.heard = nil
	if err := s.load(ctx, s.pages(disk)); err != nil {
		return nil, nil, err
	}
	if err := s.log(ctx, s.work); err != nil {
		return nil, nil, err
	}
	e := NewEnv(ctx, s.system, new(Chooser))
	e.frozen = true
	f = s.mount(e, func(e *Env, c Component) error { return c.Recover(e) }).of(Recovered)
	var quick map[string]agent.Entry // nil: it is not held against anything
	if f == nil && fatal(e) == nil {
		if records, err = s.records(ctx); err != nil {
			return nil, nil, err
		}
		if s.repairs() {
			quick, err = s.tree(e)
			f = s.judged(e, "unreadable", err).of(Recovered)
		}
	}
	if f == nil && fatal(e) == nil {
		f = s.judged(e, "check failed", s.stack.Checker.Check(e, about)).of(about.property())
	}
	if err := fatal(e); err != nil {
		return nil, nil, err
	}
	if s.dead {
		return f, nil, nil
	}
	g, err := s.unmount(ctx, s.verify && f == nil)
	if f == nil {
		f = g.of(Recovered)
	}
	if f == nil && err == nil && quick != nil {
		f, err = s.repaired(ctx, disk, quick)
		f = f.of(Recovered)
	}
	return f, records, err
}
