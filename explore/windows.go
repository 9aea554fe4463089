package explore

import (
	"errors"
	"strconv"
	"strings"
)

// A window is a moment, or a stretch of a Mutate, in which crashes are to be tried.
type window struct {
	now           bool // one moment: CheckCrashesNow
	before, after any  // expectations that were passed at the start and at the end
}

// crashWindows are the windows that a Mutate has asked for.
type crashWindows struct {
	list   []window
	open   bool // the last one has a start and no end yet
	frozen bool // a crash is being checked: no window may be asked for
}

// check reports an error if a window cannot be started, or, with end, cannot be ended.
func (w *crashWindows) check(end bool) error {
	switch {
	case w.frozen:
		return errors.New("crashes cannot be requested while a crash is being checked")
	case end && !w.open:
		return errors.New("CheckCrashesEnd without CheckCrashesStart")
	case !end && w.open:
		return errors.New("CheckCrashesStart without CheckCrashesEnd")
	}
	return nil
}

// Mark adds a record of the user's own to the log, of 1 to 200 bytes. It does not tell crash states
// apart.
func (e *Env) Mark(text string) error { return e.mark(markUser, text) }

// CheckCrashesNow has crashes tried at this moment. expect is passed to Check.
func (e *Env) CheckCrashesNow(expect any) error {
	if err := e.windows.check(false); err != nil {
		return err
	}
	e.windows.list = append(e.windows.list, window{now: true, before: expect, after: expect})
	return e.markWindow(markNow)
}

// CheckCrashesStart has crashes tried from this moment on, up to CheckCrashesEnd. before is passed to
// Check.
func (e *Env) CheckCrashesStart(before any) error {
	if err := e.windows.check(false); err != nil {
		return err
	}
	e.windows.list = append(e.windows.list, window{before: before})
	e.windows.open = true
	return e.markWindow(markStart)
}

// CheckCrashesEnd ends the window that CheckCrashesStart began. after is passed to Check.
func (e *Env) CheckCrashesEnd(after any) error {
	if err := e.windows.check(true); err != nil {
		return err
	}
	e.windows.list[len(e.windows.list)-1].after = after
	e.windows.open = false
	return e.markWindow(markEnd)
}

// Prefixes of the explorer's marks in the log.
const (
	markUser  = "user "
	markStep  = "step " // the last Mutate of an execution begins
	markNow   = "now "
	markStart = "start "
	markEnd   = "end "
)

// markWindow puts a mark with the number of the last window.
func (e *Env) markWindow(kind string) error {
	return e.mark(kind, strconv.Itoa(len(e.windows.list)-1))
}

func (e *Env) mark(kind, text string) error {
	if e.err != nil {
		return e.err
	}
	return e.failed(e.sendMark(0, kind+text))
}

// parseWindowMark returns the kind of a mark of the explorer, and the number of its window if it has
// one; ok is false for any other mark.
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
