package campaign

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A lease is a unit that a worker has. The server gives the unit to another worker if nothing is
// heard of this one.
type lease struct {
	q    *Queue
	unit Unit
	msg  jetstream.Msg
	// deliveries is how often the server has given the unit to a worker.
	deliveries uint64
	stop       context.CancelFunc
	beating    sync.WaitGroup
}

// Limits of attempts.
const (
	// maxFailures is how often a unit may fail before it is split.
	maxFailures = 3
	// maxDeliveries is how often a unit may be given to workers that do not return before it is split.
	maxDeliveries = 8
)

// fetch waits for a unit. It returns nil if none came in the time.
func (q *Queue) fetch(wait time.Duration) (*lease, error) {
	batch, err := q.consumer.Fetch(1, jetstream.FetchMaxWait(wait))
	if err != nil {
		return nil, err
	}
	msg, ok := <-batch.Messages()
	if !ok {
		return nil, batch.Error()
	}
	l := &lease{q: q, msg: msg}
	meta, err := msg.Metadata()
	if err == nil {
		l.deliveries = meta.NumDelivered
		err = decode(msg.Data(), &l.unit)
	}
	if err == nil {
		err = q.belongs(l.unit)
	}
	if err == nil && msg.Subject() != unitSubject(q.Definition.Name, l.unit.ID()) {
		err = fmt.Errorf("unit %s has the subject %.80q", l.unit.ID(), msg.Subject())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("a message that is no unit: %w", err),
			msg.TermWithReason("no unit"))
	}
	return l, nil
}

// keep tells the server that the unit is being tested, until release.
func (l *lease) keep() {
	ctx, stop := context.WithCancel(context.Background())
	l.stop = stop
	l.beating.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(l.q.lease / 3):
				_ = l.msg.InProgress() // without a server the lease ends, which does no harm
			}
		}
	})
}

// release ends keep.
func (l *lease) release() {
	l.stop()
	l.beating.Wait()
}

// giveBack gives the unit back to the queue, for another worker after a delay.
func (l *lease) giveBack(delay time.Duration) error { return l.msg.NakWithDelay(delay) }

// done takes the unit out of the queue. It gives up after the time of a lease: a server that was
// killed may have forgotten that it gave the unit away, and does not answer then. Whoever gets the
// unit finds its result, and takes it out.
func (l *lease) done(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, l.q.lease)
	defer cancel()
	return retry(ctx, func() error {
		err := l.msg.DoubleAck(ctx)
		if errors.Is(err, jetstream.ErrMsgAlreadyAckd) {
			return nil
		}
		return err
	})
}

// Waits between attempts to reach the server.
const (
	firstWait = 100 * time.Millisecond
	lastWait  = 30 * time.Second
)

// retry calls f until it returns no error, or the context is done.
func retry(ctx context.Context, f func() error) error {
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		err := f()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(wait/2 + rand.N(wait)):
		}
	}
}

// An attempt is what is known of units that could not be run.
type attempt struct {
	Failures uint64 `json:"failures"`
	Last     string `json:"last"` // why, the last time
}

func (a *attempt) check() error { return checkText("a failure", a.Last) }

// failed returns the failures of a unit so far.
func (q *Queue) failed(ctx context.Context, u Unit) (a attempt, err error) {
	a, _, err = q.failedAt(ctx, u)
	return a, err
}

func (q *Queue) failedAt(ctx context.Context, u Unit) (a attempt, at uint64, err error) {
	err = retry(ctx, func() error {
		entry, err := q.attempts.Get(ctx, u.ID())
		if errors.Is(err, jetstream.ErrKeyNotFound) {
			a, at = attempt{}, 0
			return nil
		}
		if err != nil {
			return err
		}
		if at = entry.Revision(); decode(entry.Value(), &a) != nil {
			a = attempt{} // it counts again from here
		}
		return nil
	})
	return a, at, err
}

// fail adds a failure of a unit, and returns all.
func (q *Queue) fail(ctx context.Context, u Unit, why string) (a attempt, err error) {
	err = retry(ctx, func() error {
		var at uint64
		if a, at, err = q.failedAt(ctx, u); err != nil {
			return err
		}
		a.Failures, a.Last = a.Failures+1, cleanText(why)
		text, err := encode(&a)
		if err != nil {
			return err
		}
		_, err = q.attempts.Update(ctx, u.ID(), text, at)
		return err
	})
	return a, err
}
