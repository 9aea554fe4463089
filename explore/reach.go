package explore

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// reach brings the machine and the checker to a state, and returns the Env of its last step. With
// checkpoints, it may begin with a checkpoint, and make one of the state.
func (s *session) reach(ctx context.Context, st *state, r *execution,
	checkpoints bool) (e *Env, err error) {
	var from *savedState
	checkpoints = checkpoints && s.pristine != nil && s.restorer.method != ByReplay
	if checkpoints {
		s.restorer.countChild(st)
		from = s.restorer.nearest(st)
	}
	log := &responseLog{System: s.target.system}
	if from == nil {
		e, err = s.reachPristine(ctx, log)
	} else {
		e, err = s.reachCheckpoint(ctx, from, log, r)
	}
	for i, step := range st.Steps {
		if err != nil {
			return nil, err
		}
		begin := time.Now()
		log.play = from != nil && i < len(from.steps)
		where := fmt.Sprintf("step %d of %d", i+1, len(st.Steps))
		e, err = s.replayStep(ctx, log, step, where, r)
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

// reachPristine mounts the pristine disks, and calls Init of the checker.
func (s *session) reachPristine(ctx context.Context, log *responseLog) (*Env, error) {
	begin := time.Now()
	if _, err := s.target.unmount(ctx, false); err != nil {
		return nil, err
	}
	s.target.kernel = nil
	if err := s.load(ctx, nil); err != nil {
		return nil, err
	}
	if err := s.recorder.begin(ctx); err != nil {
		return nil, err
	}
	if err := s.guard.begin(ctx); err != nil {
		return nil, err
	}
	e := s.target.env(ctx)
	if f := s.target.mount(e, nil); f != nil || fatal(e) != nil {
		return nil, s.target.diverged(e, f, "mounting the pristine disks")
	}
	if err := s.threads.hold(e, s.target.stack.Components()); err != nil {
		if e.Err() == nil {
			return nil, err
		}
		return nil, s.target.diverged(e, s.target.failure(e, "", err), "holding threads")
	}
	e, err := s.initChecker(ctx, log)
	s.restorer.mounting.since(begin)
	return e, err
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
	s.target.kernel, r.loaded, r.before = nil, true, from.before
	log.answers, log.play = slices.Clone(from.answers), true
	e, err := s.initChecker(ctx, log)
	s.restorer.loading.since(begin)
	return e, err
}

func (s *session) initChecker(ctx context.Context, log *responseLog) (*Env, error) {
	e := NewEnv(ctx, log, new(Chooser))
	if err := s.target.stack.Checker.Init(e); err != nil || e.Err() != nil {
		return nil, s.target.diverged(e, s.target.failure(e, "init failed", err), "the checker's Init")
	}
	return e, nil
}

// replayStep makes the checker repeat a step with the same choices. where names the step in errors.
func (s *session) replayStep(ctx context.Context, log *responseLog, step []Choice, where string,
	r *execution) (*Env, error) {
	e := newEnv(ctx, log, new(Chooser), interceptors{threads: s.threads})
	e.chooser.Replay(step)
	idle, err := s.threads.turn(e)
	if idle != "" {
		return nil, idleDivergence(idle)
	}
	if err == nil {
		err = s.target.stack.Checker.Mutate(e)
	}
	r.did = append(r.did, e.did)
	if f := s.target.failure(e, "mutate failed", err); f != nil || fatal(e) != nil {
		return nil, s.target.diverged(e, f, where)
	}
	if err := e.chooser.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	return e, nil
}

// checkpoint saves the machine, with the answers and the logs up to the present state.
func (s *session) checkpoint(ctx context.Context, st *state, r *execution, log *responseLog) error {
	now, err := s.recorder.drain(ctx)
	if err != nil {
		return err
	}
	r.before = r.before.followedBy(now)
	return s.restorer.keep(ctx, &savedState{
		steps:   slices.Clone(st.Steps),
		answers: slices.Clip(slices.Clone(log.answers)),
		before:  r.before,
		held:    s.threads.held,
	})
}
