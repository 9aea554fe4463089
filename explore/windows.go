package explore

import (
	"errors"
	"strconv"
	"strings"
)

// A window is a moment or an interval of a Mutate in which crashes are tried.
type window struct {
	now           bool // a moment: CheckCrashesNow
	before, after any  // the expectations at the start and at the end
	// fromLog: a LogReader requested the moment, which is right after a record.
	fromLog bool
	record  uint64
	choices int // of the step, before the request
}

// crashWindows has the windows that a Mutate requested.
type crashWindows struct {
	list   []window
	open   bool // the last window has a start and no end yet
	closed bool // a crash is being checked: no window may be requested
}

// check returns an error if a window cannot be started or, with end, cannot be ended.
func (w *crashWindows) check(end bool) error {
	switch {
	case w.closed:
		return errors.New("crashes cannot be requested while a crash is being checked")
	case end && !w.open:
		return errors.New("CheckCrashesEnd without CheckCrashesStart")
	case !end && w.open:
		return errors.New("CheckCrashesStart without CheckCrashesEnd")
	}
	return nil
}

// last returns the number of the last window, as marks have it.
func (w *crashWindows) last() string { return strconv.Itoa(len(w.list) - 1) }

// leaveOut keeps the numbers of windows that are not requested.
func (w *crashWindows) leaveOut(n int) { w.list = append(w.list, make([]window, n)...) }

// Mark adds a user's record to the log. text has 1 to 200 bytes. Crash states that differ only in
// such marks are equal.
func (e *Env) Mark(text string) error { return e.mark(markUser, text) }

// CheckCrashesNow requests crashes at this moment. expect is passed to Check.
func (e *Env) CheckCrashesNow(expect any) error {
	if err := e.windows.check(false); err != nil {
		return err
	}
	e.windows.list = append(e.windows.list, window{now: true, before: expect, after: expect,
		choices: len(e.chooser.taken)})
	return e.mark(markNow, e.windows.last())
}

// CheckCrashesStart requests crashes from this moment up to CheckCrashesEnd. before is passed to
// Check.
func (e *Env) CheckCrashesStart(before any) error {
	if err := e.windows.check(false); err != nil {
		return err
	}
	e.windows.list = append(e.windows.list, window{before: before, choices: len(e.chooser.taken)})
	e.windows.open = true
	return e.mark(markStart, e.windows.last())
}

// CheckCrashesEnd ends the window that CheckCrashesStart started. after is passed to Check.
func (e *Env) CheckCrashesEnd(after any) error {
	if err := e.windows.check(true); err != nil {
		return err
	}
	e.windows.list[len(e.windows.list)-1].after = after
	e.windows.open = false
	return e.mark(markEnd, e.windows.last())
}

// Prefixes of marks in the log.
const (
	markUser  = "user "
	markStep  = "step " // the last Mutate of an execution begins
	markNow   = "now "
	markStart = "start "
	markEnd   = "end "
)

func (e *Env) mark(kind, text string) error {
	if e.err != nil {
		return e.err
	}
	return e.failed(e.sendMark(0, kind+text))
}

// parseWindowMark returns the kind of a mark, and the number of its window if it has one. ok is
// false if the mark is not one of a step or a window.
func parseWindowMark(mark string) (kind string, window int, ok bool) {
	if strings.HasPrefix(mark, markStep) {
		return markStep, 0, true
	}
	for _, kind := range []string{markNow, markStart, markEnd} {
		if rest, has := strings.CutPrefix(mark, kind); has {
			n, err := strconv.Atoi(rest)
			return kind, n, err == nil && n >= 0
		}
	}
	return "", 0, false
}
