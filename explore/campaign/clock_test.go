package campaign

import (
	"container/heap"
	"context"
	"sync"
	"time"
)

// A clock is virtual time for the workers of a simulation. A unit ends when it is the next of all,
// and fewer than awake workers publish a result.
type clock struct {
	mu       sync.Mutex
	now      time.Duration
	sleepers sleepers
	wake     chan struct{} // something was added
	awake    chan struct{} // one for each worker that publishes a result
}

// tokenTime is how long all workers that publish may take before others are woken: the server may
// be away.
const tokenTime = time.Second

func newClock(awake int) *clock {
	return &clock{wake: make(chan struct{}, 1), awake: make(chan struct{}, awake)}
}

// A sleeper is a worker that runs a unit until a virtual time.
type sleeper struct {
	at   time.Duration
	done chan struct{}
}

type sleepers []sleeper

func (s sleepers) Len() int           { return len(s) }
func (s sleepers) Less(i, j int) bool { return s[i].at < s[j].at }
func (s sleepers) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }
func (s *sleepers) Push(x any)        { *s = append(*s, x.(sleeper)) }
func (s *sleepers) Pop() any {
	last := (*s)[len(*s)-1]
	*s = (*s)[:len(*s)-1]
	return last
}

// sleep sleeps until a virtual time.
func (c *clock) sleep(ctx context.Context, until time.Duration) error {
	done := make(chan struct{})
	c.mu.Lock()
	heap.Push(&c.sleepers, sleeper{until, done})
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-done:
		return nil
	}
}

// run lets the virtual time go on, until the context is done. A worker that was woken ends its turn
// by release.
func (c *clock) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case c.awake <- struct{}{}:
		case <-time.After(tokenTime):
			c.release()
			continue
		}
		for !c.next() {
			select {
			case <-ctx.Done():
				return
			case <-c.wake:
			}
		}
	}
}

// next wakes the worker whose unit ends next; false: there is none.
func (c *clock) next() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.sleepers) == 0 {
		return false
	}
	s, _ := heap.Pop(&c.sleepers).(sleeper)
	c.now = max(c.now, s.at)
	close(s.done)
	return true
}

// release ends a worker's turn.
func (c *clock) release() {
	select {
	case <-c.awake:
	default: // it was lost
	}
}
