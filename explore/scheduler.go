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

// A thread is one of the kernel that works for the stack, or agent.Flusher.
type thread struct {
	pid  uint32
	name string
}

// turns have the threads of a mounted stack run when it is their turn: before each Mutate it is that of none, or of one that is chosen (EXPLODE,
// 4 and 5.2). A thread that is held still runs when nobody else wants to; what it did then was not chosen, and may be otherwise the next time.
type turns struct {
	wait        time.Duration // for one whose turn it is to have something to do; 0: threads run as they like
	held        []thread
	unscheduled map[uint32]bool // those that ran though they were held, by PIDs
}

// CheckThreads says whether Config.Threads may be so.
func CheckThreads(wait time.Duration) error {
	if most := ekm.MaxWaitMS * time.Millisecond; wait < 0 || wait > most {
		return fmt.Errorf("threads: %v; at most %v are possible", wait, most)
	}
	return nil
}

// turnSite begins the site of a choice of whose turn it is.
const turnSite = "turn of "

func (t *turns) site() string {
	var names []string
	for _, h := range t.held {
		names = append(names, h.name)
	}
	return turnSite + strings.Join(names, ", ")
}

// holdThreads holds the threads of a stack that was mounted.
func (s *session) holdThreads(e *Env) error {
	t := &s.turns
	t.held, t.unscheduled = nil, make(map[uint32]bool)
	if t.wait == 0 {
		return nil
	}
	pids := []uint32{agent.Flusher}
	for _, c := range s.stack.Components() {
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
		case unix.EEXIST: // it works for two components
		case unix.ESRCH, unix.ENOENT: // it has ended
		default:
			return fmt.Errorf("thread %d cannot be held: %w", pid, errno)
		}
	}
	slices.SortFunc(t.held, func(a, b thread) int { return cmp.Or(strings.Compare(a.name, b.name), cmp.Compare(a.pid, b.pid)) })
	return nil
}

// releaseThreads has all run as they like, before they end with the stack.
func (s *session) releaseThreads(e *Env) error {
	held := s.turns.held
	s.turns.held = nil
	for _, h := range held {
		r, err := e.Try(agent.ReleaseThread(h.pid))
		if err != nil {
			return err
		}
		if errno := r[0].Errno; errno != 0 && errno != unix.ESRCH { // that one has ended
			return fmt.Errorf("%s cannot be released: %w", h.name, errno)
		}
	}
	return nil
}

// turn chooses whose turn it is before a Mutate, and has that thread run. idle names one that had nothing to do: it is as if it were nobody's
// turn.
func (s *session) turn(e *Env) (idle string, err error) {
	if len(s.turns.held) == 0 {
		return "", nil
	}
	e.turns = &s.turns
	n := e.ChooseAt(uint32(len(s.turns.held)+1), s.turns.site())
	if n == 0 {
		return "", nil
	}
	h := s.turns.held[n-1]
	e.note(h.name+" runs", false, nil)
	results, err := e.attend(agent.StrayThreads(), agent.RunThread(h.pid, s.turns.wait), agent.SettleThreads())
	if err == nil && results[1].Value == 0 {
		idle = h.name
	}
	return idle, err
}

// divergedTurn is the error of a replay in which a thread has nothing to do that had.
func divergedTurn(name string) error {
	return &DivergedError{Want: Choice{N: 1, Site: name + ", which had something to do"}, Got: Choice{Site: name + ", which has not"}}
}

// strays asks which threads ran since the stack was mounted though they were held, but for those that an operation waited for. That the machine
// failed is kept by e.
func (s *session) strays(e *Env) (names []string) {
	if len(s.turns.held) == 0 {
		return nil
	}
	_, _ = e.attend(agent.StrayThreads())
	for _, h := range s.turns.held {
		if s.turns.unscheduled[h.pid] {
			names = append(names, h.name)
		}
	}
	return names
}

// attend performs operations on threads, which succeed. What StrayThreads says is kept.
func (e *Env) attend(ops ...agent.Op) ([]agent.Result, error) {
	done, err := e.system.Do(e.ctx, agent.Batch{Ops: ops, StopAtError: true, Timeout: opTimeout})
	e.noteKernel(done.Kernel)
	if err == nil {
		err = agent.CheckResults(ops, done.Results, opTimeout)
	}
	for i, op := range ops {
		if err == nil && op.Code == strayCode {
			err = e.turns.note(done.Results[i].Data)
		}
	}
	return done.Results, e.failed(err)
}

// note keeps what StrayThreads has said.
func (t *turns) note(data []byte) error {
	pids, err := agent.DecodeNumbers(data)
	for _, pid := range pids {
		t.unscheduled[uint32(pid)] = true
	}
	return err
}

// taken are the turns in some steps: a state that a thread has changed is another one.
func (t *turns) taken(steps [][]Choice) (out []byte) {
	for i, step := range steps {
		for _, c := range step {
			if strings.HasPrefix(c.Site, turnSite) && c.Value > 0 {
				out = fmt.Appendf(out, "%d %d;", i, c.Value)
			}
		}
	}
	return out
}
