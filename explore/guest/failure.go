package guest

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// A FailureKind is the way in which a guest has failed.
type FailureKind string

// The kinds of failures.
const (
	Panicked FailureKind = "panic" // the kernel reported a panic on the console
	Hung     FailureKind = "hang"  // the agent does not answer
	Gone     FailureKind = "gone"  // the machine or the connection to its agent has ended
)

// A Failure describes how a guest has failed. All requests to a failed guest return it as their
// error.
type Failure struct {
	Kind FailureKind
	Text string // the line of the console that reports the failure, or how the guest ended
	// Silent is set for Hung: how long the agent has not answered, without the time in which the
	// guest had no processor of the host.
	Silent  time.Duration
	Console []string // the last lines of the console
}

func (f *Failure) Error() string {
	text := fmt.Sprintf("the guest has failed: %s: %s", f.Kind, f.Text)
	if len(f.Console) > 0 {
		text += "; the last lines of the console:\n\t" + strings.Join(f.Console, "\n\t")
	}
	return text
}

// tailLines bounds the lines of the console in a Failure. Linux 6.12 can print more than 40 lines
// for a panic.
const tailLines = 80

// A tail keeps the last lines of the console.
type tail struct {
	mu     sync.Mutex
	lines  []string
	panics chan string // holds the first line of a panic until the watcher takes it
}

func newTail() *tail { return &tail{panics: make(chan string, 1)} }

// panicText is the text that panic() in kernel/panic.c prints.
const panicText = "Kernel panic - not syncing"

// add adds a line, and puts it into t.panics if it reports a panic.
func (t *tail) add(line string) {
	t.mu.Lock()
	if len(t.lines) == tailLines {
		t.lines = append(t.lines[:0], t.lines[1:]...)
	}
	t.lines = append(t.lines, line)
	t.mu.Unlock()
	if strings.Contains(line, panicText) && !strings.Contains(line, "end "+panicText) {
		select {
		case t.panics <- line:
		default:
		}
	}
}

// last returns a copy of the last lines.
func (t *tail) last() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]string(nil), t.lines...)
}

// clear removes all lines and the panic, because the guest is restored to a checkpoint before them.
func (t *tail) clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = t.lines[:0]
	select {
	case <-t.panics:
	default:
	}
}
