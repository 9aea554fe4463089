package guard

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"fsward/blocktap"
	"fsward/change"
)

// A Policy decides what becomes of a write with a verdict. Nil lets it through; blocktap.ErrRefused
// completes it with EIO.
type Policy interface {
	Decide(ctx context.Context, ev *Event) error
}

// The values of --on-violation. Whatever does not hold for certain, undecided too, falls under it.
const (
	OnRefuse = "refuse"
	OnPause  = "pause"
	OnLog    = "log"
)

// PolicyNames lists the values of --on-violation.
var PolicyNames = []string{OnRefuse, OnPause, OnLog}

// CheckPolicyName returns an error that lists the choices if name is none of them.
func CheckPolicyName(name string) error {
	for _, n := range PolicyNames {
		if n == name {
			return nil
		}
	}
	return fmt.Errorf("--on-violation %q is not one of %s", name, strings.Join(PolicyNames, ", "))
}

// RefusePolicy lets through what holds and refuses the rest.
type RefusePolicy struct{}

// Decide refuses what does not hold.
func (RefusePolicy) Decide(_ context.Context, ev *Event) error {
	if ev.Outcome == change.Holds {
		return nil
	}
	return blocktap.ErrRefused
}

// LogPolicy lets everything through: the report is all that it does.
type LogPolicy struct{}

// Decide lets everything through.
func (LogPolicy) Decide(context.Context, *Event) error { return nil }

// A Suspender stops and continues the guest: a libvirt domain.
type Suspender interface {
	Suspend() error
	Resume() error
}

// A Holder is the policy that pauses: the guest is suspended and the write held until someone decides.
// Safe for concurrent use.
type Holder struct {
	guest Suspender // nil: there is no domain to suspend, the write alone is held
	log   *zap.Logger

	mu      sync.Mutex
	held    *Event
	since   time.Time
	decided chan error
}

// NewHolder returns a Holder that suspends guest, which may be nil.
func NewHolder(guest Suspender, log *zap.Logger) *Holder { return &Holder{guest: guest, log: log} }

// ErrNotHeld means that there is nothing to resume or reject.
var ErrNotHeld = errors.New("no write is held")

// Decide holds a write that does not hold until Release, or until ctx ends: it is refused then.
func (h *Holder) Decide(ctx context.Context, ev *Event) error {
	if ev.Outcome == change.Holds {
		return nil
	}
	decided := make(chan error, 1)
	h.mu.Lock()
	h.held, h.since, h.decided = ev, time.Now(), decided
	h.mu.Unlock()
	if h.guest != nil {
		if err := h.guest.Suspend(); err != nil {
			h.log.Error("cannot suspend the guest; its write is held all the same", zap.Error(err))
		}
	}
	h.log.Warn("a write is held: decide with `fsward resume` or `fsward reject`", zap.String("disk", ev.Disk),
		zap.Uint64("generation", ev.Generation), zap.Stringer("verdict", ev.Outcome))

	var err error
	select {
	case err = <-decided:
	case <-ctx.Done():
		err = blocktap.ErrRefused
	}
	h.mu.Lock()
	h.held, h.decided = nil, nil
	h.mu.Unlock()
	if h.guest != nil {
		if e := h.guest.Resume(); e != nil {
			h.log.Error("cannot resume the guest", zap.Error(e))
		}
	}
	return err
}

// Release ends the hold: with pass the write is done, without it is refused. ErrNotHeld if nothing is held.
func (h *Holder) Release(pass bool) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.decided == nil {
		return ErrNotHeld
	}
	var err error
	if !pass {
		err = blocktap.ErrRefused
	}
	h.decided <- err
	h.decided = nil
	return nil
}

// Held returns the event that is held and since when; nil if there is none.
func (h *Holder) Held() (*Event, time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.held, h.since
}
