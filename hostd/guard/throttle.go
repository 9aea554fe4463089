package guard

import (
	"context"
	"time"
)

const (
	// stretch is how long a background task works before it looks whether to rest.
	stretch = 4 * time.Millisecond
	// busyRest and idleRest are how long it rests for each unit of time that it worked: a guest that is using its
	// disk is left four fifths of the time, one that is not still finds the disk free every few milliseconds.
	busyRest, idleRest = 4, 0.25
	maxRest            = 100 * time.Millisecond
)

// A pace makes a background task rest, so that it takes little from the guest. It is used by one goroutine.
type throttle struct {
	ctx      context.Context
	requests func() uint64 // how many requests the guest has made so far
	seen     uint64
	began    time.Time // the present stretch
}

// rest returns once the task may go on. The error is that of ctx.
func (p *throttle) rest() error {
	now := time.Now()
	worked := now.Sub(p.began)
	if worked < stretch {
		return p.ctx.Err()
	}
	share := idleRest
	if n := p.requests(); n != p.seen {
		p.seen, share = n, busyRest
	}
	if p.began.IsZero() {
		worked = 0
	}
	timer := time.NewTimer(min(time.Duration(float64(worked)*share), maxRest))
	defer timer.Stop()
	select {
	case <-p.ctx.Done():
	case <-timer.C:
	}
	p.began = time.Now()
	return p.ctx.Err()
}
