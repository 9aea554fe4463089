package guest

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// A FailureKind is what became of a guest.
type FailureKind string

// The kinds of failures.
const (
	Panicked FailureKind = "panic" // its kernel says so on the console
	Hung     FailureKind = "hang"  // it does not answer
	Gone     FailureKind = "gone"  // it has ended, or the connection to it has
)

// A Failure is the end of a guest, or of its answers. It is the error of all that is asked of it then.
type Failure struct {
	Kind    FailureKind
	Text    string        // the line of the console that tells it, or how it ended
	Silent  time.Duration // Hung: how long it has not answered, without the time in which the host had no processor for it
	Console []string      // what the console said last
}

func (f *Failure) Error() string {
	text := fmt.Sprintf("the guest has failed: %s: %s", f.Kind, f.Text)
	if len(f.Console) > 0 {
		text += "; the console's last lines:\n\t" + strings.Join(f.Console, "\n\t")
	}
	return text
}

// tailLines is how many lines of the console a Failure has. What 6.12 says of a panic can be more than 40.
const tailLines = 80

// tail keeps the last lines of the console.
type tail struct {
	mu     sync.Mutex
	lines  []string
	panics chan string // the first line of a panic, if nobody has taken one yet
}

func newTail() *tail { return &tail{panics: make(chan string, 1)} }

// panicText is what panic() of the kernel prints: kernel/panic.c.
const panicText = "Kernel panic - not syncing"

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

func (t *tail) last() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]string(nil), t.lines...)
}

// clear forgets all: the guest is put back to before it.
func (t *tail) clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = t.lines[:0]
	select {
	case <-t.panics:
	default:
	}
}
