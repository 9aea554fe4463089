package ekm

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Threads returns the threads of the kernel in the order of their pids.
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
				return t, fmt.Errorf("thread %d follows thread %d", t.PID, from)
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

// Serving returns those of the threads in now that serve a file system, which was mounted after
// before was listed. It lies on a watched device; device is its name without /dev. These threads
// caused events since, or are new and no ordinary workers of work queues, or are the journal thread
// of the device.
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

// Hold gives a thread of the kernel the lowest priority. The thread still runs when no other thread
// wants to run; Unscheduled reports that.
func (c *Control) Hold(pid uint32) error {
	_, err := c.hold("hold", pid, howHold, 0)
	return err
}

// Run lets a held thread run before all others, until it ran or wait is over, and holds it again.
// wait is at most MaxWaitMS. ran is false for a thread that has nothing to do.
func (c *Control) Run(pid uint32, wait time.Duration) (ran bool, err error) {
	return c.hold("run", pid, howRun, wait)
}

// Release gives a held thread back the priority that it had before Hold.
func (c *Control) Release(pid uint32) error {
	_, err := c.hold("release", pid, howRelease, 0)
	return err
}

// Unscheduled returns the number of held threads, and those of them that ran since they were held
// or since the last call. An execution in which one ran may not replay.
func (c *Control) Unscheduled() (held int, ran []Unscheduled, err error) {
	b := make([]byte, straySize)
	if err := c.Call("unscheduled threads", cmdStray, b); err != nil {
		return 0, nil, err
	}
	ran, err = list(b, unscheduledSize, func(b []byte) (Unscheduled, error) {
		return decodeUnscheduled((*[unscheduledSize]byte)(b)), nil
	})
	if err != nil {
		return 0, nil, fmt.Errorf("unscheduled threads: %w", err)
	}
	return int(le.Uint32(b)), ran, nil
}
