package explore

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"fsward/explore/guest"
)

// failure returns the failure that the machine, err or the kernel's log shows; nil: none. kind is
// the kind of the failure if err is not a *Failure.
func (t *target) failure(e *Env, kind string, err error) *Failure {
	var found *Failure
	var failed *guest.Failure
	t.kernel = append(t.kernel, e.kernel.take()...)
	t.printed = append(t.printed, e.printed.take()...)
	t.complaint = cmp.Or(t.complaint, e.printed.complaint)
	switch {
	case errors.As(e.Err(), &failed):
		t.dead = true
		return &Failure{Kind: string(failed.Kind), Text: failed.Error()}
	case e.Err() != nil && errors.As(e.Err(), &found): // a request that did not end
		t.dead = true
		return found
	case e.Err() != nil: // fatal returns it
		// What a killed command has done is not known.
		t.dead = t.dead || slow(e.Err())
	case errors.As(err, &found):
		return found
	case err != nil:
		found = &Failure{Kind: kind, Text: err.Error()}
	default:
		return t.kernelBug(e)
	}
	return found
}

// maxMessages bounds the lines of the kernel's log that an error quotes.
const maxMessages = 8

// withKernel adds the last lines of the kernel's log to an error. They often name the reason why a
// mount fails, which mount(2) does not.
func withKernel(err error, texts []string) error {
	lines := strings.Split(strings.TrimSpace(strings.Join(texts, "")), "\n")
	if lines[0] == "" {
		return err
	}
	last := lines[max(0, len(lines)-maxMessages):]
	return fmt.Errorf("%w\nthe kernel's last messages:\n  %s", err, strings.Join(last, "\n  "))
}

// kernelBug returns the failure that the kernel's log shows; nil: none.
func (t *target) kernelBug(e *Env) *Failure {
	if text := findKernelBug(e.kernel.texts); text != "" {
		t.dead = true // the kernel may be in any state now
		return &Failure{Kind: "kernel: " + kernelBugKind(text), Text: text}
	}
	return nil
}

// diverged returns the error of a replay in which an operation failed that succeeded in the
// recorded run. where names the operation.
func (t *target) diverged(e *Env, f *Failure, where string) error {
	if err := fatal(e); err != nil {
		return err
	}
	want := Choice{N: 1, Site: where + " without an error"}
	return &DivergedError{Want: want, Got: Choice{Site: where + ": " + f.Error()}}
}

// fatal returns an error of the machine that is not a Failure of the storage: the machine is gone,
// a command was too slow, or the explorer was stopped.
func fatal(e *Env) error {
	err := e.Err()
	var found *Failure
	if err == nil || errors.As(err, &found) {
		return nil
	}
	var failed *guest.Failure
	if errors.As(err, &failed) && failed.Kind != guest.Gone {
		return nil
	}
	return err
}

// kernelBugs are the prefixes of the kernel's messages about its own bugs: BUG() and WARN()
// (lib/bug.c), and hung tasks (kernel/hung_task.c). KASAN begins with BUG; DEBUG_LIST warns. The
// others are those of PROVE_LOCKING (kernel/locking/lockdep.c) and of KMEMLEAK. Stalls (kernel/rcu,
// kernel/watchdog.c) are left out, since they also occur on an emulated processor of a busy host.
var kernelBugs = []string{"BUG: ", "kernel BUG at ", "WARNING: CPU: ", "INFO: task ",
	"general protection fault", "Oops: ", "WARNING: possible ", "WARNING: inconsistent lock state",
	"WARNING: bad unlock balance", "WARNING: suspicious RCU usage", "WARNING: held lock freed",
	"new suspected memory leaks"}

// findKernelBug returns the part of the kernel's log from its first message about a bug on; "":
// there is none.
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

// kernelBugKind returns the part of a message that is the same each time: the place in the kernel's
// source, or else the first line.
func kernelBugKind(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	if _, place, ok := strings.Cut(line, " at "); ok {
		return strings.TrimRight(place, "!")
	}
	return line
}
