package explore

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"fsward/explore/agent"
)

// A ProcessCrash ends the program that a checker runs, while the machine goes on (EXPLODE, 6.4): of
// the system calls of the last step that change the storage, only the first are done.
type ProcessCrash struct {
	Window int      `json:"window"` // of the last step, from 0
	Calls  []string `json:"calls"`  // that were done
}

// errProgramEnded is what every request of a step fails with once its program was ended.
var errProgramEnded = errors.New("the program was ended")

// A processCrashPlan is a process crash that is to be tried.
type processCrashPlan struct {
	ProcessCrash
	crash Crash // what Check is told
}

// A processCrasher counts the system calls of a step that change the storage, and ends the step after
// some of them.
type processCrasher struct {
	passThrough
	at    string            // path of the storage whose system calls are counted
	plan  *processCrashPlan // nil: the step is not ended
	calls []string          // that were done
	spans map[int]callSpan  // by window that has a start and an end
	ended bool              // the step was ended
}

// A callSpan is how many system calls had been done at the start and at the end of a window.
type callSpan struct{ from, to int }

// limit returns how many calls may still be done.
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

// mark notes how many calls had been done at the start and at the end of each window.
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

// readOnly are the operations that do not change the storage.
var readOnly = []agent.Code{syncCode, syncfsCode, fsyncCode, datasyncCode, agent.Close(0).Code,
	agent.Read(0, 0, 0).Code, agent.Stat("").Code, agent.Tree("").Code, agent.Readdir("").Code,
	agent.Readlink("").Code, agent.Getxattr("", "").Code, agent.Listxattr("").Code}

// permitted counts the operations that may be done, and returns them: all up to the end of the
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
	if short := !p.ended && len(p.calls) < len(p.plan.Calls); short || !slices.Equal(p.calls, p.plan.Calls) {
		want := Choice{N: 1, Site: fmt.Sprintf("the system calls %v", p.plan.Calls)}
		return &DivergedError{Want: want, Got: Choice{Site: fmt.Sprintf("%v", p.calls)}}
	}
	return nil
}

// plans returns the process crashes of a step whose calls were counted: one after each call between
// the start and the end of a window.
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
			out = append(out, processCrashPlan{ProcessCrash{Window: i, Calls: p.calls[:n]}, crash})
		}
	}
	return out
}
