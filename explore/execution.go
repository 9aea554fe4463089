package explore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"
)

// An execution is what one run of a sequence of Mutates gave.
type execution struct {
	steps   [][]Choice // as taken
	did     [][]string // by step
	next    []uint32   // with what the next child of the same parent begins
	more    bool       // there is one
	found   *Failure
	sig     string     // hash
	fail    *failer    // nil: nothing was to fail
	beside  []*Failure // what is wrong and ends nothing: calls that returned too early
	calls   []promise
	soft    []string // system calls of the last step
	windows []window
	before  history // that was read before the last step
	history
	kernel      []string      // what the kernel said
	loaded      bool          // a checkpoint was put back
	took        time.Duration // to be where the parent is
	idle        string        // the thread whose turn it was, and which had nothing to do: Mutate was not called
	unscheduled []string      // threads that ran though they were held
}

// attempt mounts the pristine disks, replays the steps of a state, and calls Mutate once more, with choices that begin with next; not once
// more if alone is true. An error that is a *DivergedError says that the replay was not what it was.
func (s *session) attempt(ctx context.Context, st *state, more bool) (r *execution, err error) {
	begin := time.Now()
	r = &execution{steps: slices.Clone(st.Steps)}
	e, err := s.reach(ctx, st, r, more && st.Sig != "") // what has no signature is to be shown again: from the beginning
	if err != nil {
		return nil, err
	}
	checker := s.stack.Checker
	if len(st.Steps) > 0 || !more {
		if r.sig, r.found, err = s.signature(e, st.Steps); err != nil || r.found != nil {
			return r, err
		}
		if st.Sig != "" && r.sig != st.Sig {
			return nil, &SignatureError{Want: st.Sig, Got: r.sig}
		}
	}
	r.took = time.Since(begin)
	if !more {
		return r, nil
	}
	e = NewEnv(ctx, s.system, new(Chooser))
	e.chooser.loaded = st.Next
	if s.failing || st.Fail != nil {
		e.fail = &failer{plan: st.Fail}
		r.fail = e.fail
	}
	e.account = s.account != nil && st.soft == nil
	if err := e.mark(markStep, "last"); err != nil {
		return nil, err
	}
	idle, mutated := s.turn(e)
	if r.idle = idle; idle != "" {
		r.did, r.steps = append(r.did, e.did), append(r.steps, e.chooser.Taken())
		r.ready(e)
		return r, nil
	}
	if s.soft {
		e.soft = &processCrasher{at: s.stack.Top.Path(), plan: st.soft}
	}
	began := time.Now()
	if mutated == nil {
		mutated = checker.Mutate(e)
	}
	if r.loaded {
		s.restorer.afterLoad.since(began)
	} else {
		s.restorer.afterReplay.since(began)
	}
	if e.ended() {
		mutated = nil // whatever it made of that
	}
	r.unscheduled = s.strays(e)
	r.found = s.judged(e, "mutate failed", mutated)
	r.did = append(r.did, e.did)
	r.steps = append(r.steps, e.chooser.Taken())
	if err := errors.Join(fatal(e), e.chooser.Err()); err != nil {
		return nil, err
	}
	if st.soft != nil {
		if r.found == nil {
			r.found, err = s.softChecked(e, st.soft)
		}
		return r, err
	}
	if e.soft != nil {
		r.soft = e.soft.calls
		e.soft = nil
	}
	if r.found == nil && e.open {
		return nil, errors.New("the checker's Mutate has called CheckCrashesStart and not CheckCrashesEnd")
	}
	r.windows, r.calls = e.windows, e.calls
	r.ready(e)
	if r.found == nil {
		r.sig, r.found, err = s.signature(e, r.steps)
	}
	if err == nil && !s.dead {
		r.history, err = s.history(ctx)
		r.history = r.before.and(r.history)
	}
	if err == nil && !s.dead && len(r.calls) > 0 {
		err = s.besides(r)
	}
	r.kernel = slices.Clone(s.heard)
	return r, err
}

// ready notes which child of the same parent is next.
func (r *execution) ready(e *Env) {
	if e.chooser.Next() {
		r.next, r.more = e.chooser.loaded, true
	}
}

// besides looks at what was written.
func (s *session) besides(r *execution) error {
	found, err := s.checkDurability(r)
	if found != nil {
		r.beside = append(r.beside, found)
	}
	return err
}

// signature is the hash of the state's signature.
func (s *session) signature(e *Env, steps [][]Choice) (string, *Failure, error) {
	sig, err := s.stack.Checker.Signature(e)
	if f := s.judged(e, "signature failed", err); f != nil || fatal(e) != nil {
		return "", f, fatal(e)
	}
	if sig == nil {
		for _, step := range steps {
			sig = fmt.Appendf(sig, "%v;", Values(step))
		}
	} else if s.turns.wait > 0 {
		sig = append(slices.Clip(sig), s.turns.taken(steps)...)
	}
	sum := sha256.Sum256(sig)
	return hex.EncodeToString(sum[:16]), nil, nil
}

// A SignatureError says that a replay of the same choices led to another state.
type SignatureError struct{ Want, Got string }

func (e *SignatureError) Error() string {
	return "the replay diverged: the same choices led to a state with another signature"
}

// diverged is the error of a replay in which something went wrong that did not the first time.
func (s *session) diverged(e *Env, f *Failure, where string) error {
	if err := fatal(e); err != nil {
		return err
	}
	return &DivergedError{Want: Choice{N: 1, Site: where + " without an error"}, Got: Choice{Site: where + ": " + f.Error()}}
}
