package explore

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Bounds of Config.CommandLimit. The agent accepts no longer time-out than MaxCommandLimit.
const (
	DefaultCommandLimit = time.Minute
	MinCommandLimit     = time.Second
	MaxCommandLimit     = time.Hour
)

// CheckCommandLimit returns an error if a limit is not 0, which is the default, and out of bounds.
func CheckCommandLimit(d time.Duration) error {
	if d != 0 && (d < MinCommandLimit || d > MaxCommandLimit) {
		return fmt.Errorf("a command limit of %v: it must be from %v to %v", d, MinCommandLimit,
			MaxCommandLimit)
	}
	return nil
}

// A SlowError is a command that was killed because it exceeded Config.CommandLimit. It is no
// Failure: a slow machine, such as an emulated one, is no defect of the storage. What the command
// was for is not judged.
type SlowError struct {
	Command string
	Limit   time.Duration
}

func (e *SlowError) Error() string {
	line, _, more := strings.Cut(strings.TrimSpace(e.Command), "\n")
	if more {
		line += " …"
	}
	return fmt.Sprintf("a command exceeded %v: %s", e.Limit, line)
}

// unjudged reports whether err is about a command that was too slow. If it is, unjudged counts a
// crash state or a step that was not judged. depth is the number of steps before it.
func (x *explorer) unjudged(err error, depth int) bool {
	if !slow(err) {
		return false
	}
	x.totals.Unjudged++
	x.emit(Event{Event: "unjudged", Depth: depth, Text: err.Error()})
	return true
}

// slow reports whether err is about a command that was too slow.
func slow(err error) bool {
	_, ok := errors.AsType[*SlowError](err)
	return ok
}

// incomparable reports whether err ended a replay that therefore shows nothing: it diverged, or a
// command was too slow.
func incomparable(err error) bool {
	_, diverged := errors.AsType[*DivergedError](err)
	return diverged || slow(err)
}
