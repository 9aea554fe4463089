package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"fsward/explore/agent"
)

// A ProcessCrash is one of the program that a checker runs, and not of the machine (EXPLODE, 6.4): of the system calls of the last step that change
// the storage only the first are done.
type ProcessCrash struct {
	Window int      `json:"window"` // of the last step, from 0
	Calls  []string `json:"calls"`  // that were done
}

// errCut is what all that a step wants to do fails with once its program has ended.
var errCut = errors.New("the program was ended")

// processCrasher counts the system calls of a step, and ends it after some.
type processCrasher struct {
	at    string   // what is below it counts
	plan  *soft    // nil: nothing ends
	calls []string // that were done
	cut   bool     // it was ended
}

// soft is a soft crash that is to be tried.
type soft struct {
	ProcessCrash
	crash Crash // what Check is told
}

// limit is how many calls are still to be done.
func (s *processCrasher) limit() uint64 {
	if s.plan == nil {
		return 1 << 62
	}
	return uint64(len(s.plan.Calls) - len(s.calls))
}

// run runs a command up to where the program is to end.
func (s *processCrasher) run(ctx context.Context, system System, c agent.Command) (agent.Exit, error) {
	c.Prefix = &agent.Prefix{At: s.at, Calls: s.limit()}
	exit, err := system.Run(ctx, c)
	s.calls, s.cut = append(s.calls, strings.Fields(exit.Calls)...), s.cut || exit.Cut
	return exit, err
}

// looking are the operations that change nothing.
var looking = []agent.Code{syncCode, syncfsCode, fsyncCode, datasyncCode, agent.Close(0).Code, agent.Read(0, 0, 0).Code, agent.Stat("").Code, agent.Tree("").Code,
	agent.Readdir("").Code, agent.Readlink("").Code, agent.Getxattr("", "").Code, agent.Listxattr("").Code}

// do performs the operations of a batch up to where the program is to end.
func (s *processCrasher) do(b agent.Batch) agent.Batch {
	n := s.limit()
	for i, o := range b.Ops {
		if slices.Contains(looking, o.Code) {
			continue
		}
		if n == 0 {
			b.Ops, s.cut = b.Ops[:i], true
			break
		}
		n--
		s.calls = append(s.calls, strings.Fields(o.String())[0])
	}
	return b
}

// softCrashes are those of a run that was counted: after each call between the start and the end of what it asked crashes for.
func softCrashes(r *execution) (out []soft) {
	for i, w := range r.windows {
		if w.now {
			continue
		}
		for n := w.from; n <= w.to; n++ {
			s := soft{ProcessCrash{Window: i, Calls: r.soft[:n]}, Crash{Epoch: InBetween, Before: w.before, After: w.after}}
			if n == w.from {
				s.crash.Epoch = Begin
			}
			out = append(out, s)
		}
	}
	return out
}

// checkSoft tries the soft crashes of a run, up to the first error.
func (x *explorer) checkSoft(ctx context.Context, r *execution) (*failureContext, error) {
	if !x.ProcessCrashes {
		return nil, nil
	}
	for _, plan := range softCrashes(r) {
		if err := x.stopped(); err != nil {
			return nil, err
		}
		x.totals.ProcessCrashes++
		f, err := x.softCrash(ctx, r.steps, plan)
		if f != nil || err != nil {
			return f, err
		}
	}
	return nil, nil
}

// softCrash runs steps again, of which the last one ends where it is to, and asks the checker. A replay that went another way is counted.
func (x *explorer) softCrash(ctx context.Context, steps [][]Choice, plan soft) (*failureContext, error) {
	last := len(steps) - 1
	r, err := x.session.run(ctx, &state{Steps: steps[:last], Next: Values(steps[last]), soft: &plan}, true)
	var diverged *DivergedError
	if errors.As(err, &diverged) {
		x.totals.Diverged++
		x.tell(Event{Event: "diverged", Depth: len(steps), Text: err.Error()})
		return nil, nil
	}
	if err != nil || r.found == nil {
		return nil, err
	}
	return &failureContext{execution: r, Failure: r.found, soft: &plan.ProcessCrash}, nil
}

// softAgain looks for the soft crash of an error.
func (x *explorer) softAgain(ctx context.Context, r *execution, e Error) (*failureContext, error) {
	for _, plan := range softCrashes(r) {
		if plan.Window != e.ProcessCrash.Window || !slices.Equal(plan.Calls, e.ProcessCrash.Calls) {
			continue
		}
		f, err := x.softCrash(ctx, r.steps, plan)
		if err == nil && f != nil {
			f = sameKind(f, e)
		}
		return f, err
	}
	return nil, nil
}

// softChecked asks the checker what is there after a soft crash: nothing was unmounted.
func (s *session) softChecked(e *Env, plan *soft) (*Failure, error) {
	if got := e.soft.calls; !e.soft.cut && len(got) < len(plan.Calls) || !slices.Equal(got, plan.Calls) {
		return nil, &DivergedError{Want: Choice{N: 1, Site: fmt.Sprintf("the system calls %v", plan.Calls)}, Got: Choice{Site: fmt.Sprintf("%v", got)}}
	}
	e.soft, e.frozen = nil, true
	f := s.judged(e, "check failed", s.stack.Checker.Check(e, plan.crash))
	if f != nil && !s.dead {
		soft := *f
		soft.Kind = "soft crash: " + f.Kind
		f = &soft
	}
	return f, fatal(e)
}
