package explore

import (
	"errors"
	"strings"

	"fsward/explore/guest"
)

// failure returns what an error, a failed machine, or the kernel's log shows to be wrong; nil:
// nothing. kind is that of an error that is no *Failure.
func (t *target) failure(e *Env, kind string, err error) *Failure {
	var found *Failure
	var failed *guest.Failure
	t.kernel = append(t.kernel, e.kernel.take()...)
	switch {
	case errors.As(e.Err(), &failed):
		t.dead = true
		return &Failure{Kind: string(failed.Kind), Text: failed.Error()}
	case e.Err() != nil && errors.As(e.Err(), &found): // a request that did not end
		t.dead = true
		return found
	case e.Err() != nil: // fatal returns it
	case errors.As(err, &found):
		return found
	case err != nil:
		found = &Failure{Kind: kind, Text: err.Error()}
	default:
		return t.kernelBug(e)
	}
	return found
}

// kernelFault returns the failure that the kernel's log shows; nil: none.
func (t *target) kernelBug(e *Env) *Failure {
	if text := findKernelBug(e.kernel.texts); text != "" {
		t.dead = true // nobody knows what a kernel does after that
		return &Failure{Kind: "kernel: " + kernelBugKind(text), Text: text}
	}
	return nil
}

// diverged returns the error of a replay in which something failed that did not fail before.
func (t *target) diverged(e *Env, f *Failure, where string) error {
	if err := fatal(e); err != nil {
		return err
	}
	want := Choice{N: 1, Site: where + " without an error"}
	return &DivergedError{Want: want, Got: Choice{Site: where + ": " + f.Error()}}
}

// fatal returns the error of a machine that is no Failure of what is checked: the machine is gone, or
// the explorer was ended.
func fatal(e *Env) error {
	var failed *guest.Failure
	var found *Failure
	if err := e.Err(); err != nil && !errors.As(err, &found) && (!errors.As(err, &failed) || failed.Kind == guest.Gone) {
		return err
	}
	return nil
}

// faults begin the messages of a kernel about its own bugs: BUG() and WARN() (lib/bug.c), and hung
// tasks (kernel/hung_task.c). Stalls (kernel/rcu, kernel/watchdog.c) are left out, since an emulated
// processor on a busy host has them.
var kernelBugs = []string{"BUG: ", "kernel BUG at ", "WARNING: CPU: ", "INFO: task ", "general protection fault", "Oops: "}

// kernelFault returns the part of a kernel's log that begins with a bug in it; "" if there is none.
func findKernelBug(texts []string) string {
	for _, text := range texts {
		for _, word := range kernelBugs {
			if i := strings.Index(text, word); i >= 0 {
				return text[i:]
			}
		}
	}
	return ""
}

// kernelBugKind returns the part of a fault that is the same each time: the place in the kernel's source.
func kernelBugKind(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	if _, place, ok := strings.Cut(line, " at "); ok {
		return strings.TrimRight(place, "!")
	}
	return line
}
