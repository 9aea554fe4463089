package guard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"fsward/blocktap"
	"fsward/change"
	"fsward/invariants"
)

// A Policy decides about a write that has a verdict. Nil lets the write through;
// blocktap.ErrRefused completes it with EIO.
type Policy interface {
	Decide(ctx context.Context, ev *Event) error
}

// The values of --on-violation and --on-undecided.
const (
	OnRefuse = "refuse"
	OnPause  = "pause"
	OnLog    = "log"  // of --on-violation
	OnPass   = "pass" // of --on-undecided
)

// PolicyNames and UndecidedNames list the values of --on-violation and --on-undecided.
var (
	PolicyNames    = []string{OnRefuse, OnPause, OnLog}
	UndecidedNames = []string{OnRefuse, OnPause, OnPass}
)

// Policies name what happens to a write that does not hold.
type Policies struct {
	OnViolation string // OnRefuse, OnPause or OnLog
	OnUndecided string // OnRefuse, OnPause or OnPass; "": as OnViolation, and OnPass for OnLog
}

// Undecided returns OnUndecided, or its default.
func (p Policies) Undecided() string {
	switch {
	case p.OnUndecided != "":
		return p.OnUndecided
	case p.OnViolation == OnLog:
		return OnPass
	}
	return p.OnViolation
}

// Pauses reports whether the policies hold writes, whatever the severity of rules.
func (p Policies) Pauses() bool { return p.OnViolation == OnPause || p.Undecided() == OnPause }

// Check returns an error that lists the choices if a name is not one of them.
func (p Policies) Check() error {
	if !slices.Contains(PolicyNames, p.OnViolation) {
		return fmt.Errorf("--on-violation %q is not one of %s", p.OnViolation,
			strings.Join(PolicyNames, ", "))
	}
	if u := p.Undecided(); !slices.Contains(UndecidedNames, u) {
		return fmt.Errorf("--on-undecided %q is not one of %s", u, strings.Join(UndecidedNames, ", "))
	}
	return nil
}

// policy returns the policy of these names. holder is for writes that are held.
func (p Policies) policy(holder *Holder) Policy {
	named := func(name string) Policy {
		switch name {
		case OnPause:
			return holder
		case OnLog, OnPass:
			return LogPolicy{}
		}
		return RefusePolicy{}
	}
	v := verdictPolicy{violated: named(p.OnViolation), undecided: named(p.Undecided())}
	if v.paused = v.violated; p.OnViolation == OnRefuse && holder != nil {
		v.paused = holder
	}
	return v
}

// A verdictPolicy has one policy for violated writes, one for those that violate only rules of
// severity pause, and one for undecided ones.
type verdictPolicy struct{ violated, paused, undecided Policy }

// Decide asks the policy for the verdict.
func (p verdictPolicy) Decide(ctx context.Context, ev *Event) error {
	switch ev.Outcome {
	case change.Holds:
		return nil
	case change.Violated:
		if ev.pauses() {
			return p.paused.Decide(ctx, ev)
		}
		return p.violated.Decide(ctx, ev)
	}
	return p.undecided.Decide(ctx, ev)
}

// pauses reports whether all violations that act are of rules with the severity pause.
func (ev *Event) pauses() bool {
	paused := false
	for i := range ev.Violations {
		if v := &ev.Violations[i]; v.Acts() {
			if v.Severity != invariants.SeverityPause {
				return false
			}
			paused = true
		}
	}
	return paused
}

// errCannotPause means that a rule would hold a write, and nobody could decide about it.
var errCannotPause = errors.New("a rule has the severity pause, which needs a control socket " +
	"(--control): without it nobody could decide")

// canPause reports whether someone can decide about a write that is held.
func (c *Config) canPause() bool { return c.Control || c.Pauses() }

// checkPause returns errCannotPause if rules pause and nobody could decide.
func (c *Config) checkPause(rules RuleSetInfo) error {
	if rules.Pauses && c.OnViolation == OnRefuse && !c.canPause() {
		return errCannotPause
	}
	return nil
}

// RefusePolicy lets through what holds and refuses everything else.
type RefusePolicy struct{}

// Decide refuses a write unless it holds.
func (RefusePolicy) Decide(_ context.Context, ev *Event) error {
	if ev.Outcome == change.Holds {
		return nil
	}
	return blocktap.ErrRefused
}

// LogPolicy lets every write through. The report is its only effect.
type LogPolicy struct{}

// Decide lets the write through.
func (LogPolicy) Decide(context.Context, *Event) error { return nil }

// A Suspender suspends and resumes the guest. A libvirt domain is one.
type Suspender interface {
	Suspend() error
	Resume() error
}

// A Holder is the policy that pauses: it suspends the guest and holds the write until someone
// decides. It is safe for concurrent use.
type Holder struct {
	guest Suspender // nil: there is no domain to suspend, and only the write is held
	log   *zap.Logger

	mu      sync.Mutex
	held    *Event
	since   time.Time
	decided chan error
}

// NewHolder returns a Holder that suspends guest. guest may be nil.
func NewHolder(guest Suspender, log *zap.Logger) *Holder { return &Holder{guest: guest, log: log} }

// ErrNotHeld means that no write is held that could be resumed or rejected.
var ErrNotHeld = errors.New("no write is held")

// Decide holds a write that does not hold until Release is called. If ctx ends first, the write is
// refused.
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
			h.log.Error("cannot suspend the guest; its write is still held", zap.Error(err))
		}
	}
	h.log.Warn("a write is held: decide with `fsward resume` or `fsward reject`",
		zap.String("disk", ev.Disk), zap.Uint64("generation", ev.Generation),
		zap.Stringer("verdict", ev.Outcome))

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

// Release ends the hold. If pass is set the write is performed, otherwise it is refused. It returns
// ErrNotHeld if no write is held.
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

// Held returns the event of the held write and the time when the hold began; nil if no write is
// held.
func (h *Holder) Held() (*Event, time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.held, h.since
}
