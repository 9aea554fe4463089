package exploretest

import (
	"maps"
	"slices"

	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/agent"
)

// A Flusher is a kernel thread that serves a Toy: it writes the dirty keys, and does not flush.
type Flusher struct {
	// Eager is a key that the thread writes when it is put, even while the thread is held. -1: none.
	Eager int
	// Turns is the number of times that the thread runs when it is scheduled. After that it never
	// runs, like a thread that finds no work.
	Turns int

	held        bool
	unscheduled bool // it ran while it was held
}

// flusherPID is the PID of the thread.
const flusherPID = 7

// Codes of operations on threads.
var (
	holdCode        = agent.HoldThread(0).Code
	runCode         = agent.RunThread(0, 0).Code
	releaseCode     = agent.ReleaseThread(0).Code
	unscheduledCode = agent.UnscheduledThreads().Code
	settleCode      = agent.SettleThreads().Code
)

// Run adds a thread to a Toy, and makes the Toy's system perform operations on threads.
func (t *Toy) Run(s *System, f *Flusher) {
	t.flusher = f
	s.Programs["sh"] = func(*System, agent.Command) (agent.Exit, error) {
		return agent.Exit{}, nil // the command loads fsw_ekm
	}
	s.Perform = t.perform
}

// Threads returns the PID of the thread, if the Toy has one.
func (t *Toy) Threads(*explore.Env) ([]uint32, error) {
	if t.flusher == nil {
		return nil, nil
	}
	return []uint32{flusherPID}, nil
}

// perform performs an operation on threads.
func (t *Toy) perform(s *System, op agent.Op) (r agent.Result) {
	f := t.flusher
	_, numbers, _, _ := op.Fields()
	known := numbers[0] == flusherPID
	switch {
	case op.Code == holdCode && !known:
		r.Errno = unix.ESRCH // for agent.Flusher too: a System has no page cache
	case op.Code == holdCode && !f.held:
		f.held, f.unscheduled, r.Data = true, false, []byte("toyd")
	case op.Code == runCode && known && f.held:
		if len(t.dirty) == 0 || f.Turns == 0 {
			break
		}
		f.Turns--
		r.Value = 1
		if err := t.write(s, slices.Sorted(maps.Keys(t.dirty))); err != nil {
			r.Errno = unix.EIO
		}
	case op.Code == releaseCode && known && f.held:
		f.held = false
	case op.Code == unscheduledCode:
		if f.unscheduled {
			r.Data = agent.EncodeThreads([]uint32{flusherPID})
		}
		f.unscheduled = false
	case op.Code == settleCode:
		f.unscheduled = false
	default:
		r.Errno = unix.ENOSYS
	}
	return r
}
