package explore

import (
	"errors"
	"strings"

	"fsward/explore/guest"
)

// judged makes of an error, of a machine that failed, and of what its kernel said, what was found. An error that is not a *Failure is of
// the given kind.
func (s *session) judged(e *Env, kind string, err error) *Failure {
	var found *Failure
	var failure *guest.Failure
	s.heard = append(s.heard, e.kernel[e.heard:]...)
	e.heard = len(e.kernel)
	switch {
	case errors.As(e.Err(), &failure):
		s.dead = true
		return &Failure{Kind: string(failure.Kind), Text: failure.Error()}
	case e.Err() != nil && errors.As(e.Err(), &found): // a request that did not end
		s.dead = true
		return found
	case e.Err() != nil: // fatal tells
	case errors.As(err, &found):
		return found
	case err != nil:
		found = &Failure{Kind: kind, Text: err.Error()}
	default:
		return s.kernelFault(e)
	}
	return found
}

// kernelFault is what the kernel has said that it does not say while it is well.
func (s *session) kernelFault(e *Env) *Failure {
	if text := kernelFault(e.kernel); text != "" {
		s.dead = true // what a kernel does after that nobody knows
		return &Failure{Kind: "kernel: " + faultKind(text), Text: text}
	}
	return nil
}

// fatal is the failure of a machine that is no failureContext: it is gone, or we are.
func fatal(e *Env) error {
	var failure *guest.Failure
	var found *Failure
	if err := e.Err(); err != nil && !errors.As(err, &found) && (!errors.As(err, &failure) || failure.Kind == guest.Gone) {
		return err
	}
	return nil
}

// faults begin what a kernel says of its own bugs: BUG() and WARN(), lib/bug.c; hung tasks, kernel/hung_task.c; stalls, kernel/rcu and
// kernel/watchdog.c are left out, since an emulated processor on a busy host has them.
var faults = []string{"BUG: ", "kernel BUG at ", "WARNING: CPU: ", "INFO: task ", "general protection fault", "Oops: "}

// kernelFault returns the part of a kernel's log that tells of a bug in it; "" if none does.
func kernelFault(texts []string) string {
	for _, text := range texts {
		for _, word := range faults {
			if i := strings.Index(text, word); i >= 0 {
				return text[i:]
			}
		}
	}
	return ""
}

// faultKind is the part of a fault that is the same whenever it comes: the place in the source where it says so.
func faultKind(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	if _, place, ok := strings.Cut(line, " at "); ok {
		return strings.TrimRight(place, "!")
	}
	return line
}
