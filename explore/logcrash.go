package explore

import (
	"fmt"

	"fsward/explore/crash"
	"fsward/explore/ramdisk"
)

// A LogReader is a Checker that reads the log of its step, and starts crashes there: at a write, a
// flush, a mark of its own, or the begin or the return of a call that promises durability.
type LogReader interface {
	Checker
	// Crashes is called after each Mutate that found no failure, with the ticks of that step. It
	// returns the moments at which crashes are tried. They must not lie between CheckCrashesStart and
	// CheckCrashesEnd.
	Crashes(log []Tick) ([]LogCrash, error)
}

// A LogCrash requests crashes right after a tick, as CheckCrashesNow does.
type LogCrash struct {
	After  uint64 // Tick.Record
	Expect any    // passed to Check
}

// requestCrashes adds the windows that a LogReader requests.
func (r *execution) requestCrashes(c Checker) error {
	reader, ok := c.(LogReader)
	if !ok {
		return nil
	}
	for _, rec := range r.records {
		if rec.Type == ramdisk.Lost {
			return fmt.Errorf("%d records of the step are missing: %w", rec.Len, ramdisk.ErrFull)
		}
	}
	crashes, err := reader.Crashes(ticks(r))
	if err != nil {
		return err
	}
	last := uint64(0)
	for _, c := range crashes {
		if c.After < last {
			return fmt.Errorf("the crash after record %d is requested after that at %d", c.After, last)
		}
		last = c.After
		r.windows = append(r.windows, window{now: true, before: c.Expect, after: c.Expect,
			fromLog: true, record: c.After})
	}
	return nil
}

// withMarks yields the events of a log, with the marks of the windows that a LogReader requested.
func withMarks(events crash.Events, windows []window) crash.Events {
	return func(yield func(crash.Event, error) bool) {
		next := 0
		pass := func(until uint64) bool { // marks of windows before a record
			for ; next < len(windows); next++ {
				w := windows[next]
				if !w.fromLog {
					continue
				}
				if w.record >= until {
					return true
				}
				mark := crash.Event{Kind: crash.Marked, At: w.record, Mark: markNow + fmt.Sprint(next)}
				if !yield(mark, nil) {
					return false
				}
			}
			return true
		}
		for ev, err := range events {
			if err == nil && !pass(ev.At) || !yield(ev, err) {
				return
			}
		}
		pass(^uint64(0))
	}
}
