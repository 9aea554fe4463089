package exploretest

import (
	"maps"
	"slices"

	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/agent"
)

// A Flusher is a thread that works for a Toy: it writes what was put, and flushes nothing.
type Flusher struct {
	// Eager is a key that it writes as soon as it is put, though it is held; -1: there is none.
	Eager int
	// Turns is how many it takes. Then it has nothing to do any more, as one that cannot be relied upon.
	Turns int

	held, strayed bool
}

const flusherPID = 7

// Codes of operations on threads.
var (
	holdCode    = agent.HoldThread(0).Code
	runCode     = agent.RunThread(0, 0).Code
	releaseCode = agent.ReleaseThread(0).Code
	strayCode   = agent.StrayThreads().Code
	settleCode  = agent.SettleThreads().Code
)

// Run gives a Toy a thread, and its system what holds threads.
func (t *Toy) Run(s *System, f *Flusher) {
	t.flusher = f
	s.Programs["sh"] = func(*System, agent.Command) (agent.Exit, error) { return agent.Exit{}, nil } // loads the module
	s.Perform = t.perform
}

// Threads returns the thread's PID.
func (t *Toy) Threads(*explore.Env) ([]uint32, error) {
	if t.flusher == nil {
		return nil, nil
	}
	return []uint32{flusherPID}, nil
}

func (t *Toy) perform(s *System, op agent.Op) (r agent.Result) {
	f := t.flusher
	_, numbers, _, _ := op.Fields()
	known := numbers[0] == flusherPID
	switch {
	case op.Code == holdCode && !known:
		r.Errno = unix.ESRCH // such as agent.Flusher: there are no pages
	case op.Code == holdCode && !f.held:
		f.held, f.strayed, r.Data = true, false, []byte("toyd")
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
	case op.Code == strayCode:
		if f.strayed {
			r.Data = agent.EncodeThreads([]uint32{flusherPID})
		}
		f.strayed = false
	case op.Code == settleCode:
		f.strayed = false
	default:
		r.Errno = unix.ENOSYS
	}
	return r
}
