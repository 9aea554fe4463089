package campaign

import (
	"context"
)

// A Status is how far a campaign is.
type Status struct {
	Name  string   `json:"name"`
	Kind  string   `json:"kind"`
	Args  []string `json:"args"`  // flags of the command
	State string   `json:"state"` // a State, or "done", or "submitting"
	Size  uint64   `json:"size"`  // indexes
	Left  uint64   `json:"left"`  // of them, without a result
	*Tally
	Waiting  uint64        `json:"waiting"` // units in the queue
	Leased   uint64        `json:"leased"`  // units that workers have
	Errors   int           `json:"errors"`  // findings
	Surprise int           `json:"surprises"`
	Doubled  uint64        `json:"doubled"` // indexes that count twice: 0
	Rate     float64       `json:"rate"`    // indexes a second
	Workers  []WorkerTally `json:"workers"`
}

// Exact reports whether each index of a campaign has one result, or none yet.
func (s *Status) Exact() bool {
	return s.Doubled == 0 && s.Bad == 0 && s.Tested+s.Poisoned+s.Left == s.Size
}

// unitsLeft returns the number of units that wait in the queue, and of those that workers have. The
// stream holds both. The consumer's own count of what waits comes later than the acknowledgment of
// a message, so that it can lack one that was just queued.
func (q *Queue) unitsLeft(ctx context.Context) (waiting, leased uint64, err error) {
	s, err := q.units.Info(ctx)
	if err != nil {
		return 0, 0, err
	}
	c, err := q.consumer.Info(ctx)
	if err != nil {
		return 0, 0, err
	}
	leased = min(uint64(max(c.NumAckPending, 0)), s.State.Msgs)
	return s.State.Msgs - leased, leased, nil
}

// Status reads the results that a tally lacks, and returns how far the campaign is.
func (q *Queue) Status(ctx context.Context, t *Tally) (*Status, error) {
	r, err := q.Record(ctx)
	if err != nil {
		return nil, err
	}
	if err := t.Read(ctx); err != nil {
		return nil, err
	}
	waiting, leased, err := q.unitsLeft(ctx)
	if err != nil {
		return nil, err
	}
	findings, bad, err := q.Findings(ctx)
	if err != nil {
		return nil, err
	}
	d, counts := &q.Definition, *t // the caller's tally has no bad findings
	counts.Bad += bad
	s := &Status{Name: d.Name, Kind: d.Kind, State: string(r.State), Size: d.Size(), Left: t.Left(),
		Tally: &counts, Waiting: waiting, Leased: leased, Doubled: t.Doubled(), Rate: t.Rate(),
		Workers: t.Workers(), Args: []string{}}
	for _, f := range d.Flags {
		s.Args = append(s.Args, f.String())
	}
	for _, f := range findings {
		if f.Surprise {
			s.Surprise++
		} else {
			s.Errors++
		}
	}
	switch {
	case t.Done():
		s.State = "done"
	case r.State == Running && !r.Submitted:
		s.State = "submitting"
	}
	return s, nil
}
