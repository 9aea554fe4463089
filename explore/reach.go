package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// reach brings the machine and the checker to a state, and returns the Env of its last step. If the
// state is a stage of an exploration, it may begin with a checkpoint, and make one of the state,
// and its requests may be sent ahead.
func (s *session) reach(ctx context.Context, st *state, r *execution,
	stage bool) (e *Env, err error) {
	var from *savedState
	checkpoints := stage && s.pristine != nil && s.restorer.method != ByReplay
	if checkpoints {
		s.restorer.countChild(st)
		from = s.restorer.nearest(st)
	}
	ahead := s.replays.begin(st, stage && from == nil)
	log := &responseLog{System: s.target.system}
	if ahead != nil {
		log.System = ahead
	}
	if from == nil {
		e, err = s.reachPristine(ctx, st, log, r)
	} else {
		e, err = s.reachCheckpoint(ctx, from, log, r)
	}
	if r.found != nil {
		return nil, err
	}
	for i, step := range st.Steps {
		if err != nil {
			return nil, err
		}
		begin := time.Now()
		log.play = from != nil && i < len(from.steps)
		where := fmt.Sprintf("step %d of %d", i+1, len(st.Steps))
		var faults []InjectedFault
		if i < len(st.Faults) {
			faults = st.Faults[i]
		}
		ahead.beginStep(i)
		e, err = s.replayStep(ctx, log, step, faults, where, r)
		ahead.endStep()
		if !log.play {
			s.restorer.step.since(begin)
		}
	}
	log.play = false // the machine answers from now on
	if err == nil && checkpoints && s.restorer.worthSaving(st, from) {
		err = s.checkpoint(ctx, st, r, log)
	}
	return e, err
}

// reachPristine makes the stack if the setup of a state needs that, mounts the pristine disks, and
// calls Init of the checker. In a new setup, a failure is that of the execution.
func (s *session) reachPristine(ctx context.Context, st *state, log *responseLog,
	r *execution) (*Env, error) {
	choices := new(Chooser)
	if choices.Replay(st.Setup); st.Root {
		choices.loaded = st.Next
	}
	r.choices = choices
	e, f, err := s.setUpAndMount(ctx, choices, log, r)
	switch {
	case err != nil:
		return nil, err
	case f != nil && st.Root:
		r.found, r.setup = f, choices.Taken()
		return nil, nil
	case f != nil:
		return nil, s.target.diverged(e, f, "the setup")
	}
	if err := choices.Err(); err != nil {
		return nil, fmt.Errorf("the setup: %w", err)
	}
	r.setup = choices.Taken()
	return e, nil
}

// setUpAndMount does the work of reachPristine.
func (s *session) setUpAndMount(ctx context.Context, choices *Chooser, log *responseLog,
	r *execution) (*Env, *Failure, error) {
	begin := time.Now()
	e := s.target.env(ctx)
	if _, err := s.target.unmount(e, false); err != nil {
		return nil, nil, err
	}
	s.target.forgetTexts()
	if err := s.ready(ctx); err != nil {
		return nil, nil, err
	}
	if f, err := s.disks.setUp(ctx, s.target, choices); f != nil || err != nil {
		return s.target.env(ctx), f, err
	}
	if err := errors.Join(s.disks.load(ctx, nil), s.recorder.begin(ctx)); err != nil {
		return nil, nil, err
	}
	if err := s.guard.begin(ctx); err != nil {
		return nil, nil, err
	}
	if err := s.target.checkKernel(s.target.env(ctx)); err != nil {
		return nil, nil, err
	}
	e = s.target.choosing(ctx, log.System, choices)
	if f := s.target.mount(e, nil); f != nil || fatal(e) != nil {
		return e, f, fatal(e)
	}
	if err := s.threads.hold(e, s.target.stack.Components()); err != nil {
		if e.Err() == nil {
			return nil, nil, err
		}
		return e, s.target.failure(e, "", err), fatal(e)
	}
	if s.inject {
		if err := s.faulty.find(e, s.target.stack); err != nil {
			return e, s.target.failure(e, "", err), fatal(e)
		}
	}
	r.mounted = len(choices.taken)
	e, f, err := s.initChecker(ctx, choices, log)
	s.restorer.mounting.since(begin)
	return e, f, err
}

// reachCheckpoint loads a checkpoint, and calls Init of the checker. log then plays the answers
// that led to the checkpoint.
func (s *session) reachCheckpoint(ctx context.Context, from *savedState, log *responseLog,
	r *execution) (*Env, error) {
	begin := time.Now()
	if err := s.target.system.Load(ctx, from.machine); err != nil {
		return nil, fmt.Errorf("cannot restore the machine: %w", err)
	}
	s.target.restored(true)
	s.recorder.restored(true)
	s.threads.resume(from.held)
	s.target.forgetTexts()
	r.loaded, r.before = true, from.before
	log.answers, log.play = slices.Clone(from.answers), true
	s.disks.use(from.variant)
	s.faulty.threads = from.kernelThreads
	r.setup, r.mounted = from.setup, from.mounted
	choices := new(Chooser)
	choices.Replay(from.setup[from.mounted:])
	e, f, err := s.initChecker(ctx, choices, log)
	if f != nil {
		err = s.target.diverged(e, f, "the checker's Init")
	}
	s.restorer.loading.since(begin)
	return e, errors.Join(err, choices.Err())
}

func (s *session) initChecker(ctx context.Context, choices *Chooser,
	log *responseLog) (*Env, *Failure, error) {
	e := s.target.choosing(ctx, log, choices)
	if err := s.target.stack.Checker.Init(e); err != nil || e.Err() != nil {
		return e, s.target.failure(e, "init failed", err), fatal(e)
	}
	return e, nil, nil
}

// replayStep makes the checker repeat a step with the same choices. where names the step in errors.
func (s *session) replayStep(ctx context.Context, log *responseLog, step []Choice,
	faults []InjectedFault, where string,
	r *execution) (*Env, error) {
	i := interceptors{threads: s.threads, kernel: s.target.kernelChoices, limit: s.target.limit}
	if s.inject { // also without a fault, since the injection drops the kernel's caches
		i.faults = s.faulty.injector(faults)
	}
	e := newEnv(ctx, log, new(Chooser), i)
	e.chooser.Replay(step)
	idle, err := s.threads.turn(e)
	if idle != "" {
		return nil, idleDivergence(idle)
	}
	if err == nil {
		err = s.target.stack.Checker.Mutate(e)
	}
	missing := i.faults.end()
	r.did = append(r.did, e.did)
	if f := s.target.failure(e, "mutate failed", err); f != nil || fatal(e) != nil {
		return nil, s.target.diverged(e, f, where)
	}
	if err := e.chooser.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	return e, missing
}

// checkpoint saves the machine, with the answers and the logs up to the present state.
func (s *session) checkpoint(ctx context.Context, st *state, r *execution, log *responseLog) error {
	now, err := s.recorder.drain(ctx)
	if err != nil {
		return err
	}
	r.before = r.before.followedBy(now)
	return s.restorer.keep(ctx, &savedState{
		setup:   r.setup,
		mounted: r.mounted,
		variant: s.disks.used,
		steps:   slices.Clone(st.Steps),
		faults:  st.Faults,
		answers: slices.Clip(slices.Clone(log.answers)),
		before:  r.before,
		held:    s.threads.held,

		kernelThreads: s.faulty.threads,
	})
}
