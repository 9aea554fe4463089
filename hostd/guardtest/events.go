package guardtest

import (
	"strings"
	"sync"
	"testing"
	"time"

	"fsward/hostd/guard"
)

// Events is a Sink that keeps the events it receives.
type Events []*guard.Event

func (e *Events) Event(ev *guard.Event) { *e = append(*e, ev) }

// A Recorder is a Sink that keeps events. It can be read while the guard runs.
type Recorder struct {
	mu  sync.Mutex
	all Events
}

func (r *Recorder) Event(ev *guard.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, ev)
}

func (r *Recorder) Events() Events {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append(Events(nil), r.all...)
}

// TextOf returns an event as people read it.
func TextOf(ev *guard.Event) string {
	var b strings.Builder
	guard.NewTextReport(&b).Event(ev)
	return b.String()
}

// A Domain counts how often it was suspended and resumed.
type Domain struct{ Suspended, Resumed int }

func (d *Domain) Suspend() error { d.Suspended++; return nil }
func (d *Domain) Resume() error  { d.Resumed++; return nil }

// WaitHeld waits until a write is held.
func WaitHeld(t *testing.T, h *guard.Holder) {
	t.Helper()
	for range 20_000 {
		if ev, _ := h.Held(); ev != nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("nothing is held")
}
