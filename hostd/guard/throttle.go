package guard

import (
	"context"
	"time"
)

const (
	// stretch is how long a background task works before it considers a rest.
	stretch = 4 * time.Millisecond
	// busyRest and idleRest are how long the task rests for each unit of time that it worked. If the
	// guest uses its disk, the task leaves it four fifths of the time. If the guest does not, the disk
	// is still free every few milliseconds.
	busyRest, idleRest = 4, 0.25
	maxRest            = 100 * time.Millisecond
)

// A throttle makes a background task rest, so that it takes little time from the guest. One
// goroutine uses it.
type throttle struct {
	ctx      context.Context
	requests func() uint64 // returns the number of requests of the guest so far
	seen     uint64
	began    time.Time // of the present stretch
}

// rest returns when the task may go on. Its error is that of ctx.
func (t *throttle) rest() error {
	now := time.Now()
	worked := now.Sub(t.began)
	if worked < stretch {
		return t.ctx.Err()
	}
	share := idleRest
	if n := t.requests(); n != t.seen {
		t.seen, share = n, busyRest
	}
	if t.began.IsZero() {
		worked = 0
	}
	timer := time.NewTimer(min(time.Duration(float64(worked)*share), maxRest))
	defer timer.Stop()
	select {
	case <-t.ctx.Done():
	case <-timer.C:
	}
	t.began = time.Now()
	return t.ctx.Err()
}
