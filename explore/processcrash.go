package explore

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"fsward/explore/agent"
)

// A ProcessCrash ends the program that a checker runs, while the machine goes on (EXPLODE, 6.4).
// Only the first of the last step's system calls that change the storage are done.
type ProcessCrash struct {
	Window int      `json:"window"` // number of the window in the last step, from 0
	Calls  []string `json:"calls"`  // names of the system calls that were done
	// Choices are those of the check.
	Choices []Choice `json:"choices,omitempty"`
}

// errProgramEnded is the error of every request of a step after its program was ended.
var errProgramEnded = errors.New("the program was ended")

// A processCrashPlan is a process crash to try.
type processCrashPlan struct {
	ProcessCrash
	crash   Crash    // the argument of Check
	choices *Chooser // of the check
}

// A processCrasher counts the system calls of a step that change the storage, and ends the step
// after some of them.
type processCrasher struct {
	passThrough
	at    string            // path of the storage; system calls that change it are counted
	plan  *processCrashPlan // nil: the step is not ended
	calls []string          // the system calls that were done
	spans map[int]callSpan  // by number of the window, for windows with a start and an end
	ended bool              // the step was ended
}

// A callSpan has the numbers of system calls that had been done at the start and the end of a
// window.
type callSpan struct{ from, to int }

// remaining returns the number of system calls that may still be done.
func (p *processCrasher) remaining() uint64 {
	if p.plan == nil {
		return 1 << 62
	}
	return uint64(len(p.plan.Calls) - len(p.calls))
}

func (p *processCrasher) command(_ *Env, c agent.Command, next sendCommand) (agent.Exit, error) {
	if p.ended {
		return agent.Exit{}, errProgramEnded
	}
	c.Prefix = &agent.Prefix{At: p.at, Calls: p.remaining()}
	exit, err := next(c)
	p.calls, p.ended = append(p.calls, strings.Fields(exit.Calls)...), exit.Cut
	if err == nil && p.ended {
		err = errProgramEnded
	}
	return exit, err
}

func (p *processCrasher) batch(_ *Env, r request, next sendBatch) (agent.Done, error) {
	if p.ended {
		return agent.Done{}, errProgramEnded
	}
	r.Ops = p.permitted(r.Ops)
	done, err := next(r)
	if err == nil && p.ended {
		return agent.Done{}, errProgramEnded
	}
	return done, err
}

// mark records the number of calls at the start and the end of each window.
func (p *processCrasher) mark(_ *Env, text string, next sendMark) error {
	if p.ended {
		return errProgramEnded
	}
	if kind, window, ok := parseWindowMark(text); ok {
		switch span := p.spans[window]; kind {
		case markStart:
			p.spans[window] = callSpan{from: len(p.calls)}
		case markEnd:
			p.spans[window] = callSpan{span.from, len(p.calls)}
		}
	}
	return next(text)
}

// readOnly lists the operations that do not change the storage.
var readOnly = []agent.Code{syncCode, syncfsCode, fsyncCode, datasyncCode, agent.Close(0).Code,
	agent.Read(0, 0, 0).Code, agent.Stat("").Code, agent.Tree("").Code, agent.Readdir("").Code,
	agent.Readlink("").Code, agent.Getxattr("", "").Code, agent.Listxattr("").Code}

// permitted counts and returns the operations that may be done: those before the end of the
// program.
func (p *processCrasher) permitted(ops []agent.Op) []agent.Op {
	n := p.remaining()
	for i, o := range ops {
		if slices.Contains(readOnly, o.Code) {
			continue
		}
		if n == 0 {
			p.ended = true
			return ops[:i]
		}
		n--
		p.calls = append(p.calls, strings.Fields(o.String())[0])
	}
	return ops
}

// followed returns a *DivergedError if the calls that were done are not those of the plan.
func (p *processCrasher) followed() error {
	if !slices.Equal(p.calls, p.plan.Calls) {
		want := Choice{N: 1, Site: fmt.Sprintf("the system calls %v", p.plan.Calls)}
		return &DivergedError{Want: want, Got: Choice{Site: fmt.Sprintf("%v", p.calls)}}
	}
	return nil
}

// plans returns the process crashes to try for a step whose calls were counted: for each window
// with a start and an end, one at its start and one after each call in it.
func (p *processCrasher) plans(windows []window) (out []processCrashPlan) {
	for i, w := range windows {
		if w.now {
			continue
		}
		for n := p.spans[i].from; n <= p.spans[i].to; n++ {
			crash := Crash{Epoch: InBetween, Before: w.before, After: w.after}
			if n == p.spans[i].from {
				crash.Epoch = Begin
			}
			out = append(out, processCrashPlan{
				ProcessCrash: ProcessCrash{Window: i, Calls: p.calls[:n]}, crash: crash,
				choices: new(Chooser)})
		}
	}
	return out
}
