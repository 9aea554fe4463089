package campaign

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// submitBatch is the number of units whose acknowledgments a submitter waits for at once.
const submitBatch = 256

// Submit puts the units into the queue that are neither there nor done, and returns how many. It
// may be called again at any time, as after a crash of the submitter.
func (q *Queue) Submit(ctx context.Context) (queued uint64, err error) {
	return q.submit(ctx, q.NewTally())
}

// submit is Submit with a tally that may have read results before.
func (q *Queue) submit(ctx context.Context, t *Tally) (queued uint64, err error) {
	if err := t.Read(ctx); err != nil {
		return 0, err
	}
	s := submitter{q: q}
	err = q.Definition.Units(func(u Unit) error { return s.missing(ctx, t, u) })
	if err == nil {
		err = s.wait(ctx)
	}
	if err != nil {
		return s.queued, fmt.Errorf("after %d units: %w", s.queued,
			errors.Join(q.client.Trouble(), err))
	}
	return s.queued, q.change(ctx, func(r *Record) error {
		r.Submitted = true
		return nil
	})
}

// A submitter publishes units in batches.
type submitter struct {
	q      *Queue
	batch  []jetstream.PubAckFuture
	queued uint64
}

// missing publishes a unit unless it is done. The halves of one that was split take its place.
func (s *submitter) missing(ctx context.Context, t *Tally, u Unit) error {
	unit := span{u.From, u.To}
	switch {
	case t.splits[unit]:
		for _, half := range u.halves() {
			if err := s.missing(ctx, t, half); err != nil {
				return err
			}
		}
		return nil
	case t.done.covers(unit):
		return nil
	}
	return s.publish(ctx, u)
}

// publish publishes a unit. The server refuses it if it is in the queue.
func (s *submitter) publish(ctx context.Context, u Unit) error {
	text, err := encode(&u)
	if err != nil {
		return err
	}
	ack, err := s.q.client.js.PublishAsync(unitSubject(s.q.Definition.Name, u.ID()), text,
		jetstream.WithExpectLastSequencePerSubject(0))
	if err != nil {
		return err
	}
	if s.batch = append(s.batch, ack); len(s.batch) == submitBatch {
		return s.wait(ctx)
	}
	return nil
}

// wait waits for the acknowledgments of the batch.
func (s *submitter) wait(ctx context.Context) error {
	for _, ack := range s.batch {
		select {
		case <-ack.Ok():
			s.queued++
		case err := <-ack.Err():
			if !isRefused(err) {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s.batch = s.batch[:0]
	return nil
}

// Error codes of the server for a message that is not the first of its subject, without replicas
// and with them.
const (
	notFirst           = jetstream.JSErrCodeStreamWrongLastSequence
	notFirstReplicated = jetstream.JSErrCodeStreamWrongLastSequenceConstant
)

// isRefused reports whether the server refused a message because its subject has one.
func isRefused(err error) bool {
	api, ok := errors.AsType[*jetstream.APIError](err)
	return ok && (api.ErrorCode == notFirst || api.ErrorCode == notFirstReplicated)
}
