package explore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"fsward/explore/agent"
)

// An execution is one run of a sequence of steps from the pristine disks, with what it observed.
type execution struct {
	setup    []Choice          // the choices of the setup
	mounted  int               // number of these that were taken before the checker's Init
	choices  *Chooser          // of the setup; nil: a checkpoint took its place
	steps    [][]Choice        // the choices of each step
	injected [][]InjectedFault // the faults of each step but the last; nil: there are none
	did      [][]string        // Env.did of each step
	next     []uint32          // the first choices of the next child of the same parent
	more     bool              // there is a next child
	found    *Failure          // the failure that ended the execution; nil: none
	nonfatal []*Failure        // failures that did not end it: calls that returned too early
	// Surprises of its crash states, which did not end it, either.
	surprises []*failureContext
	sig       string            // hash of the signature
	features  []string          // of the checker, if it is a Featurer
	faults    *faultInjector    // nil: no faults are injected or enumerated
	calls     []promise         // promises of the last step
	coverage  *coverageRecorder // of the last step; nil: it was not recorded
	process   *processCrasher   // it counted the system calls of the last step; nil: not counted
	windows   []window          // requested by the last step
	scout     bool              // it is the execution of a scout: see Cover
	cut       bool              // as a scout, it left out crash states
	commands  commandCount      // of the checker, in the last step
	before    history           // logs that were taken before the last step
	history
	kernel      []string      // the kernel's log
	loaded      bool          // the execution began with a checkpoint
	took        time.Duration // time to reach the parent
	idle        string        // the chosen thread that found no work, so that Mutate was not called
	unscheduled []string      // threads that ran although they were held
}

// A SignatureError means that a replay of the same choices led to another state.
type SignatureError struct{ Want, Got string }

func (e *SignatureError) Error() string {
	return "the replay diverged: the same choices led to a state with another signature"
}

// run executes the next child of a state. If the guard of the disks refused a request, that is the
// failure of the execution, since any other failure follows from it.
func (s *session) run(ctx context.Context, st *state) (*execution, error) {
	r, err := s.attempt(ctx, st)
	if errors.Is(err, errReplayedOtherwise) {
		r, err = s.attempt(ctx, st)
	}
	g := s.guard
	if g == nil || g.session == nil || ctx.Err() != nil {
		return r, err
	}
	if e := g.end(ctx); e != nil && !s.target.dead {
		return nil, errors.Join(err, e)
	}
	refused := g.session.Refused()
	if refused == nil {
		return r, err
	}
	if r == nil { // the execution did not reach its last step
		r = &execution{setup: st.Setup, steps: slices.Clone(st.Steps)}
	}
	r.kernel = slices.Clone(s.target.kernel)
	r.found, r.nonfatal = refused.withConsequences(r.kernel, r.found), nil
	return r, nil
}

// attempt reaches a state, and calls Mutate once more, with choices that begin with st.Next. For
// the root, it sets up the stack with these choices, and calls no Mutate. It returns a
// *DivergedError or a *SignatureError if the replay diverged.
func (s *session) attempt(ctx context.Context, st *state) (*execution, error) {
	r, err := s.parent(ctx, st, st.Root)
	if err == nil && st.Root {
		r.ready(r.choices)
	}
	if err != nil || r.found != nil || st.Root {
		return r, err
	}
	i := s.intercept(st)
	r.faults, r.process, r.coverage, r.scout = i.faults, i.process, i.coverage, st.Scout
	e := newEnv(ctx, s.target.system, new(Chooser), i)
	st.chooseAs(e.chooser)
	if s.replays.beginLast(e.chooser) {
		e.system = s.replays
	}
	if err := e.mark(markStep, "last"); err != nil {
		return nil, err
	}
	if err := s.mutate(e, r); err != nil {
		return nil, err
	}
	if err := s.replays.endLast(r.found != nil); err != nil {
		return nil, err
	}
	if r.idle != "" {
		r.ready(e.chooser)
		return r, nil
	}
	if st.crash != nil {
		if r.found == nil {
			r.found, err = s.target.checkProcessCrash(e, r.process)
		}
		return r, err
	}
	if r.process != nil {
		e.remove(r.process)
	}
	if r.found == nil && e.windows.open {
		return nil, errors.New("the checker called CheckCrashesStart without CheckCrashesEnd")
	}
	r.windows = e.windows.list
	if i.promises != nil {
		r.calls = i.promises.calls
	}
	r.ready(e.chooser)
	return r, s.observe(ctx, e, r)
}

// parent brings the machine and the checker to a state. With alone, the execution ends there. A
// setup that fails has r.found.
func (s *session) parent(ctx context.Context, st *state, alone bool) (*execution, error) {
	begin := time.Now()
	r := &execution{steps: slices.Clone(st.Steps), injected: st.Faults}
	// A state without a signature is the replay of an error, which starts from the beginning.
	e, err := s.reach(ctx, st, r, !alone && st.Sig != "")
	if err != nil {
		return nil, err
	}
	if e == nil { // the setup failed
		r.kernel = slices.Clone(s.target.kernel)
		return r, nil
	}
	if len(st.Steps) > 0 || alone {
		if r.sig, r.found, err = s.signature(e, r, st.Steps); err != nil || r.found != nil {
			return r, err
		}
		if !strings.HasPrefix(st.Sig, r.sig) && st.Sig != "" { // the hash of the disks may follow
			return nil, &SignatureError{Want: st.Sig, Got: r.sig}
		}
	}
	r.took = time.Since(begin)
	return r, nil
}

// faultsOf returns the faults of step i.
func (r *execution) faultsOf(i int) []InjectedFault {
	switch {
	case i < len(r.injected):
		return r.injected[i]
	case i == len(r.steps)-1 && r.faults != nil:
		return r.faults.plan
	}
	return nil
}

// allFaults returns the faults of each step; nil: there are none.
func (r *execution) allFaults() [][]InjectedFault {
	if len(r.injected) == 0 && (r.faults == nil || len(r.faults.plan) == 0) {
		return nil
	}
	out := make([][]InjectedFault, len(r.steps))
	for i := range out {
		out[i] = r.faultsOf(i)
	}
	return out
}

// intercept returns the interceptors of the last step of an execution.
func (s *session) intercept(st *state) (i interceptors) {
	if s.inject || st.Fail != nil {
		i.faults = s.faulty.injector(st.Fail)
	}
	if s.countCalls || st.crash != nil {
		top := s.target.stack.Top.Path()
		i.process = &processCrasher{at: top, plan: st.crash, spans: make(map[int]callSpan)}
	}
	i.threads, i.kernel, i.limit = s.threads, s.target.kernelChoices, s.target.limit
	i.pulse = s.pulse
	_, reads := s.target.stack.Checker.(LogReader)
	if (s.newAccount != nil || reads) && st.crash == nil {
		i.promises = new(promiseMarker)
	}
	if s.covering && st.crash == nil {
		i.coverage = &coverageRecorder{edges: make(map[agent.Edge]bool)}
	}
	return i
}

// mutate does the last step of an execution: it runs the chosen thread, and then Mutate.
func (s *session) mutate(e *Env, r *execution) (err error) {
	if r.idle, err = s.threads.turn(e); r.idle != "" {
		r.did, r.steps = append(r.did, e.did), append(r.steps, e.chooser.Taken())
		return nil
	}
	began := time.Now()
	if err == nil {
		err = s.target.stack.Checker.Mutate(e)
	}
	s.restorer.mutated(r, began)
	r.commands = e.commands
	if r.process != nil && r.process.ended {
		err = nil // the checker may have reported that its program was ended
	}
	r.unscheduled = s.threads.unscheduledNames(e)
	if r.found = s.target.failure(e, "mutate failed", err); r.found == nil {
		r.found = s.target.kernelFinding(e)
	}
	r.did, r.steps = append(r.did, e.did), append(r.steps, e.chooser.Taken())
	missing := r.faults.end()
	if r.found != nil || s.target.dead {
		missing = nil
	}
	return errors.Join(fatal(e), e.chooser.Err(), missing)
}

// checkProcessCrash asks the checker after a process crash. The stack is still mounted.
func (t *target) checkProcessCrash(e *Env, p *processCrasher) (*Failure, error) {
	if err := p.followed(); err != nil {
		return nil, err
	}
	e.remove(p)
	e.windows.closed = true
	e.chooser = p.plan.choices
	f := t.failure(e, "check failed", t.stack.Checker.Check(e, p.plan.crash))
	if f != nil && !t.dead {
		named := *f
		named.Kind = "soft crash: " + f.Kind
		f = &named
	}
	return f, errors.Join(fatal(e), e.chooser.err)
}

// observe takes the signature of the state after an execution and the logs of the disks, and checks
// the promises of the last step.
func (s *session) observe(ctx context.Context, e *Env, r *execution) (err error) {
	if r.found == nil {
		r.sig, r.found, err = s.signature(e, r, r.steps)
	}
	if f, ok := s.target.stack.Checker.(Featurer); ok && r.found == nil {
		r.features = f.Features()
	}
	if err == nil && !s.target.dead {
		r.history, err = s.recorder.history(ctx)
		r.history = r.before.followedBy(r.history)
	}
	if err == nil && !s.target.dead && r.found == nil && s.hashDisks {
		var hash string
		hash, err = s.disks.hash(r.history)
		r.sig += hash
	}
	if err == nil && !s.target.dead && r.found == nil {
		err = r.requestCrashes(s.target.stack.Checker)
	}
	if err == nil && !s.target.dead && len(r.calls) > 0 && s.newAccount != nil {
		var early *Failure
		if early, err = r.checkDurability(s.disks, s.newAccount()); early != nil {
			r.nonfatal = append(r.nonfatal, early)
		}
	}
	r.kernel = slices.Clone(s.target.kernel)
	return err
}

// ready records the next child of the same parent.
func (r *execution) ready(choices *Chooser) {
	if choices.Next() {
		r.next, r.more = choices.loaded, true
	}
}

// signature returns the hash of a state's signature. If the checker returns no signature, it is the
// hash of the choices.
func (s *session) signature(e *Env, r *execution,
	steps [][]Choice) (string, *Failure, error) {
	sig, err := s.target.stack.Checker.Signature(e)
	if f := s.target.failure(e, "signature failed", err); f != nil || fatal(e) != nil {
		return "", f, fatal(e)
	}
	if sig == nil {
		for _, step := range steps {
			sig = fmt.Appendf(sig, "%v;", Values(step))
		}
	} else if s.threads.wait > 0 {
		sig = append(slices.Clip(sig), s.threads.taken(steps)...)
	}
	if len(r.setup) > 0 { // the checker does not know the choices of components
		sig = fmt.Appendf(slices.Clip(sig), " setup %v", Values(r.setup))
	}
	for i := range steps { // nor what a failed call has left in the kernel
		for _, fault := range r.faultsOf(i) {
			sig = fmt.Appendf(slices.Clip(sig), " fault %d %x", i, fault.Stack)
		}
	}
	sum := sha256.Sum256(sig)
	return hex.EncodeToString(sum[:16]), nil, nil
}
