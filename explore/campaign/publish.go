package campaign

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// result returns the result of a unit; nil: it has none.
func (q *Queue) result(ctx context.Context, u Unit) (*Result, error) {
	var data []byte
	err := retry(ctx, func() error {
		msg, err := q.results.GetLastMsgForSubject(ctx, resultSubject(q.Definition.Name, u.ID()))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return nil
		}
		if err == nil {
			data = msg.Data
		}
		return err
	})
	if err != nil || data == nil {
		return nil, err
	}
	r, err := q.decodeResult(data)
	if err == nil && r.Unit != u {
		err = fmt.Errorf("it is of unit %s", r.ID())
	}
	if err != nil {
		return nil, fmt.Errorf("the result of unit %s: %w", u.ID(), err)
	}
	return r, nil
}

// publish makes a result the one of its unit, unless the unit has one. It returns the result that
// counts. If two runs of the unit disagree, the other result is kept as a difference.
func (q *Queue) publish(ctx context.Context, r *Result) (*Result, error) {
	text, err := encode(r)
	if err != nil {
		return nil, err
	}
	refused := false
	var ack *jetstream.PubAck
	err = retry(ctx, func() (err error) {
		ack, err = q.client.js.Publish(ctx, resultSubject(q.Definition.Name, r.ID()), text,
			jetstream.WithMsgID(q.digest+"."+r.ID()), jetstream.WithExpectLastSequencePerSubject(0))
		if refused = isRefused(err); refused {
			return nil
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if !refused && !ack.Duplicate && ack.Sequence%keepEvery == 0 {
		_ = q.keep(ctx) // without it a status takes longer, and the next one is kept
	}
	// A message whose ID is known is accepted, and not stored. So the result is read back.
	counts, err := q.result(ctx, r.Unit)
	if err != nil {
		return nil, err
	}
	if counts == nil {
		return nil, errors.New("the server lost a result")
	}
	if counts.Outcome == Tested && r.Outcome == Tested && counts.digest() != r.digest() {
		return counts, q.differs(ctx, r, text)
	}
	return counts, nil
}

// differs keeps a result that is not that of an earlier run of the unit.
func (q *Queue) differs(ctx context.Context, r *Result, text []byte) error {
	return retry(ctx, func() error {
		_, err := q.client.js.Publish(ctx, differenceSubject(q.Definition.Name, r.ID()), text,
			jetstream.WithMsgID(q.digest+"."+r.ID()+"."+r.digest()))
		return err
	})
}

// split queues the halves of a unit whose result says that it was split. The result comes first: a
// worker that still tests the whole unit cannot count it any more.
func (q *Queue) split(ctx context.Context, u Unit) error {
	return retry(ctx, func() error {
		s := submitter{q: q}
		for _, half := range u.halves() {
			if err := s.publish(ctx, half); err != nil {
				return err
			}
		}
		return s.wait(ctx)
	})
}
