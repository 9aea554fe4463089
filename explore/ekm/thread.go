package ekm

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Threads lists the threads of the kernel, by their pids.
func (c *Control) Threads() (out []Thread, err error) {
	for from := uint32(0); ; from = out[len(out)-1].PID {
		b := make([]byte, threadsSize)
		le.PutUint32(b, from)
		if err := c.Call("threads", cmdThreads, b); err != nil {
			return nil, err
		}
		some, err := list(b, threadSize, func(b []byte) (Thread, error) {
			t := decodeThread((*[threadSize]byte)(b))
			if t.PID <= from {
				return t, fmt.Errorf("thread %d after %d", t.PID, from)
			}
			from = t.PID
			return t, nil
		})
		if err != nil {
			return nil, fmt.Errorf("threads: %w", err)
		}
		out = append(out, some...)
		if len(some) < threadsPer {
			return out, nil
		}
	}
}

// Serving picks, of threads that are there now, those that serve a file system on a device that is watched and was mounted
// meanwhile: those that caused events, workers of queues among them; those that were not there before; and rescuers of queues,
// which are named as their queue. device is its name without /dev.
func Serving(before, now []Thread, device string) (out []Thread) {
	for _, t := range now {
		i := slices.IndexFunc(before, func(b Thread) bool { return b.PID == t.PID })
		caused := t.Events > 0 && (i < 0 || t.Events > before[i].Events)
		begun := i < 0 && (!t.Worker || t.Rescuer)
		if caused || begun || strings.HasPrefix(t.Comm, "jbd2/"+device+"-") {
			out = append(out, t)
		}
	}
	return out
}

const (
	howHold    = 1 // FSW_EK_HOLD
	howRun     = 2 // FSW_EK_RUN
	howRelease = 3 // FSW_EK_RELEASE
)

func (c *Control) hold(what string, pid, how uint32, wait time.Duration) (ran bool, err error) {
	var b [holdSize]byte
	le.PutUint32(b[0:], pid)
	le.PutUint32(b[4:], how)
	le.PutUint32(b[8:], uint32(wait.Milliseconds()))
	err = c.Call(fmt.Sprintf("%s %d", what, pid), cmdHold, b[:])
	return le.Uint32(b[12:]) != 0, err
}

// Hold gives a thread of the kernel the lowest priority. It still runs when nobody else wants to: Stray tells.
func (c *Control) Hold(pid uint32) error {
	_, err := c.hold("hold", pid, howHold, 0)
	return err
}

// Run lets a thread that is held run before all others, until it did or wait (at most MaxWaitMS) is over, and holds it again.
// It tells whether it ran: one that has nothing to do does not.
func (c *Control) Run(pid uint32, wait time.Duration) (ran bool, err error) {
	return c.hold("run", pid, howRun, wait)
}

// Release gives a thread the priority back that it had.
func (c *Control) Release(pid uint32) error {
	_, err := c.hold("release", pid, howRelease, 0)
	return err
}

// Stray returns how many threads are held, and those that ran anyway since they were, or since this was last asked: a trace that
// would not replay.
func (c *Control) Stray() (held int, strayed []Strayed, err error) {
	b := make([]byte, straySize)
	if err := c.Call("stray", cmdStray, b); err != nil {
		return 0, nil, err
	}
	strayed, err = list(b, strayedSize, func(b []byte) (Strayed, error) { return decodeStrayed((*[strayedSize]byte)(b)), nil })
	if err != nil {
		return 0, nil, fmt.Errorf("stray: %w", err)
	}
	return int(le.Uint32(b)), strayed, nil
}
