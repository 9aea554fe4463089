package explore

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
	"fsward/explore/ekm"
)

// A thread is a kernel thread that serves the stack, or agent.Flusher.
type thread struct {
	pid  uint32
	name string
}

// A threadScheduler holds the kernel threads of a mounted stack, and runs at most one of them
// before each Mutate, by choice (EXPLODE, 4 and 5.2). A held thread still runs if the processor is
// idle. The explorer did not choose such a run, and a replay may differ.
type threadScheduler struct {
	passThrough
	wait        time.Duration // how long a chosen thread may take to find work; 0: threads run freely
	held        []thread
	unscheduled map[uint32]bool // PIDs of threads that ran although they were held
}

// CheckThreads returns an error if a value of Config.Threads is out of range.
func CheckThreads(wait time.Duration) error {
	if most := ekm.MaxWaitMS * time.Millisecond; wait < 0 || wait > most {
		return fmt.Errorf("threads: %v is outside 0 to %v", wait, most)
	}
	return nil
}

// turnSite is the prefix of the site of the choice of a thread.
const turnSite = "turn of "

// site returns the site of the choice of a thread.

func (t *threadScheduler) site() string {
	var names []string
	for _, h := range t.held {
		names = append(names, h.name)
	}
	return turnSite + strings.Join(names, ", ")
}

// hold holds the threads of mounted components.
func (t *threadScheduler) hold(e *Env, components []Component) error {
	t.resume(nil)
	if t.wait == 0 {
		return nil
	}
	pids := []uint32{agent.Flusher}
	for _, c := range components {
		some, err := c.Threads(e)
		if err != nil {
			return err
		}
		pids = append(pids, some...)
	}
	for _, pid := range pids {
		r, err := e.Try(agent.HoldThread(pid))
		if err != nil {
			return err
		}
		switch errno := r[0].Errno; errno {
		case 0:
			t.held = append(t.held, thread{pid, string(r[0].Data)})
		case unix.EEXIST: // the thread serves two components
		case unix.ESRCH, unix.ENOENT: // the thread has ended
		default:
			return fmt.Errorf("cannot hold thread %d: %w", pid, errno)
		}
	}
	slices.SortFunc(t.held, func(a, b thread) int {
		return cmp.Or(strings.Compare(a.name, b.name), cmp.Compare(a.pid, b.pid))
	})
	return nil
}

// resume records that the machine was restored to a state in which these threads are held.
func (t *threadScheduler) resume(held []thread) {
	t.held, t.unscheduled = held, make(map[uint32]bool)
}

// release lets all threads run freely, before they end with the stack.
func (t *threadScheduler) release(e *Env) error {
	held := t.held
	t.held = nil
	for _, h := range held {
		r, err := e.Try(agent.ReleaseThread(h.pid))
		if err != nil {
			return err
		}
		if errno := r[0].Errno; errno != 0 && errno != unix.ESRCH { // ESRCH: the thread has ended
			return fmt.Errorf("cannot release thread %s: %w", h.name, errno)
		}
	}
	return nil
}

// turn chooses which thread runs before a Mutate, and runs it. idle names a chosen thread that
// found no work: the state is the same as without that choice.
func (t *threadScheduler) turn(e *Env) (idle string, err error) {
	if len(t.held) == 0 {
		return "", nil
	}
	n := e.ChooseAt(uint32(len(t.held)+1), t.site())
	if n == 0 {
		return "", nil
	}
	h := t.held[n-1]
	e.note(h.name+" runs", false, nil)
	results, err := t.ask(e, agent.UnscheduledThreads(), agent.RunThread(h.pid, t.wait),
		agent.SettleThreads())
	if err == nil && results[1].Value == 0 {
		idle = h.name
	}
	return idle, err
}

// idleDivergence returns the error of a replay in which a thread finds no work although it found
// work in the recorded run.
func idleDivergence(name string) error {
	return &DivergedError{Want: Choice{N: 1, Site: name + ", which had something to do"},
		Got: Choice{Site: name + ", which has not"}}
}

// unscheduledNames returns the names of the threads that ran although they were held, since the
// stack was mounted. It leaves out threads that an operation waited for. e keeps an error of the
// machine.
func (t *threadScheduler) unscheduledNames(e *Env) (names []string) {
	if len(t.held) == 0 {
		return nil
	}
	_, _ = t.ask(e, agent.UnscheduledThreads())
	for _, h := range t.held {
		if t.unscheduled[h.pid] {
			names = append(names, h.name)
		}
	}
	return names
}

// ask performs operations on threads, which must succeed, and records the results of
// UnscheduledThreads.
func (t *threadScheduler) ask(e *Env, ops ...agent.Op) ([]agent.Result, error) {
	results, err := e.ask(ops...)
	for i, op := range ops {
		if err == nil && op.Code == unscheduledCode {
			err = e.failed(t.note(results[i].Data))
		}
	}
	return results, err
}

var unscheduledCode = agent.UnscheduledThreads().Code

// note records the threads that UnscheduledThreads found.
func (t *threadScheduler) note(data []byte) error {
	pids, err := agent.DecodeNumbers(data)
	for _, pid := range pids {
		t.unscheduled[uint32(pid)] = true
	}
	return err
}

// batch asks which threads ran before each operation that makes data durable. It disregards threads
// that run during the operation, which waits for them.
func (t *threadScheduler) batch(_ *Env, r request, next sendBatch) (agent.Done, error) {
	if r.bare {
		return next(r)
	}
	var p padded
	for i, made := range promises(r.Ops) {
		if made.scope == 0 {
			p.own(r.Ops[i])
			continue
		}
		p.add(agent.UnscheduledThreads())
		p.own(r.Ops[i])
		p.add(agent.SettleThreads())
	}
	r.Ops = p.ops
	done, err := next(r)
	done.Results, err = p.strip(done.Results, err, func(op agent.Op, r agent.Result) error {
		if op.Code == unscheduledCode {
			return t.note(r.Data)
		}
		return nil
	})
	return done, err
}

// promised does the same around a call of Env.Promised.
func (t *threadScheduler) promised(e *Env, _ promise, next func() error) error {
	if _, err := t.ask(e, agent.UnscheduledThreads()); err != nil {
		return err
	}
	if err := next(); err != nil {
		return err
	}
	_, err := t.ask(e, agent.SettleThreads())
	return err
}

// taken returns the choices of threads in steps, for the signature: a state that a thread has
// changed is another state.
func (t *threadScheduler) taken(steps [][]Choice) (out []byte) {
	for i, step := range steps {
		for _, c := range step {
			if strings.HasPrefix(c.Site, turnSite) && c.Value > 0 {
				out = fmt.Appendf(out, "%d %d;", i, c.Value)
			}
		}
	}
	return out
}
