package campaign

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A Tally adds up the results of a campaign. Each index counts once.
type Tally struct {
	Tested   uint64 `json:"tested"`   // indexes
	Poisoned uint64 `json:"poisoned"` // indexes that could not be run
	Results  uint64 `json:"results"`  // of units, with those that were split
	Splits   uint64 `json:"splits"`   // units
	// Differences is the number of units that had another result when they ran again.
	Differences uint64 `json:"differences"`
	// Bad is the number of messages that are not results of this campaign.
	Bad     uint64  `json:"bad"`
	Seconds float64 `json:"seconds"` // of all units

	queue   *Queue
	done    spans         // indexes that were tested or could not be run
	doubled uint64        // of them, more than once
	splits  map[span]bool // units that were split
	workers map[string]*WorkerTally
	found   map[string]uint64 // how often each finding was found
	active  time.Duration     // in which a unit ran, as far as results say
	last    time.Time         // of a result
	read    uint64            // number of the last message that was read
}

// A WorkerTally is what one worker did.
type WorkerTally struct {
	Worker string    `json:"worker"`
	Units  uint64    `json:"units"`
	Tested uint64    `json:"tested"`
	Last   time.Time `json:"last"` // result
}

// NewTally returns a tally that has read nothing.
func (q *Queue) NewTally() *Tally {
	return &Tally{queue: q, splits: make(map[span]bool), workers: make(map[string]*WorkerTally),
		found: make(map[string]uint64)}
}

// maxResets bounds how often a reader whose server went away asks for the results again before Read
// fails. By default it would never end.
const maxResets = 5

// Read reads the results that came since the last call. The first call begins with the tally that
// the server keeps.
func (t *Tally) Read(ctx context.Context) error {
	info, err := t.queue.results.Info(ctx)
	if err == nil && t.read == 0 && info.State.LastSeq >= keepEvery {
		err = t.restore(ctx, info.State.LastSeq)
	}
	if err != nil || info.State.LastSeq <= t.read {
		return err
	}
	c, err := t.queue.results.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: t.read + 1,
		MaxResetAttempts: maxResets})
	if err != nil {
		return err
	}
	it, err := c.Messages(jetstream.PullMaxMessages(4096))
	if err != nil {
		return err
	}
	defer it.Stop()
	for t.read < info.State.LastSeq {
		msg, err := it.Next(jetstream.NextContext(ctx))
		if err != nil {
			return fmt.Errorf("the results of the campaign: %w", err)
		}
		meta, err := msg.Metadata()
		if err != nil {
			return err
		}
		t.add(msg.Subject(), msg.Data(), meta.Timestamp)
		t.read = meta.Sequence.Stream
	}
	return nil
}

// add adds a message of the stream of results.
func (t *Tally) add(subject string, data []byte, at time.Time) {
	name := t.queue.Definition.Name
	if strings.HasPrefix(subject, differenceSubject(name, "")) {
		t.Differences++
		return
	}
	r, err := t.queue.decodeResult(data)
	if err != nil || subject != resultSubject(name, r.ID()) {
		t.Bad++
		return
	}
	unit := span{r.From, r.To}
	if t.splits[unit] {
		t.Bad++ // the server should have refused it
		return
	}
	t.Results++
	t.Seconds += r.Seconds
	ran := time.Duration(r.Seconds * float64(time.Second))
	t.active += max(0, min(ran, at.Sub(t.last))) // the clock of the server may be set back
	t.last = at
	switch r.Outcome {
	case Split:
		t.splits[unit] = true
		t.Splits++
		return
	case Poisoned:
		t.Poisoned++
	case Tested:
		t.Tested += r.Size()
	}
	t.doubled += t.done.add(unit)
	for _, c := range r.Findings {
		t.found[c.Key] += c.Count
	}
	w := t.workers[r.Worker]
	if w == nil {
		w = &WorkerTally{Worker: r.Worker}
		t.workers[r.Worker] = w
	}
	w.Units++
	w.Tested += r.Size()
	w.Last = at
}

// decodeResult reads a result of the campaign.
func (q *Queue) decodeResult(data []byte) (*Result, error) {
	r := new(Result)
	if err := decode(data, r); err != nil {
		return nil, err
	}
	return r, q.belongs(r.Unit)
}

// belongs returns an error for a unit that is not one of the campaign.
func (q *Queue) belongs(u Unit) error {
	if u.Digest != q.digest {
		return fmt.Errorf("unit %s is of the campaign %s, and this is %s", u.ID(), u.Digest, q.digest)
	}
	return q.Definition.within(u)
}

// Doubled returns the number of indexes that count twice. It is not 0 only if the server lost or
// made up messages.
func (t *Tally) Doubled() uint64 { return t.doubled }

// Left returns the number of indexes without a result. One that counts twice stands for no other.
func (t *Tally) Left() uint64 { return t.queue.Definition.Size() - t.done.size() }

// Done reports whether every index has a result.
func (t *Tally) Done() bool { return t.Left() == 0 }

// Rate returns how many indexes were tested a second, while units ran: the time between a stop and
// the next resume does not count. 0: it is not known.
func (t *Tally) Rate() float64 {
	if t.active > 0 {
		return float64(t.Tested) / t.active.Seconds()
	}
	return 0
}

// Workers returns what each worker did, in the order of their names.
func (t *Tally) Workers() (list []WorkerTally) {
	for _, w := range t.workers {
		list = append(list, *w)
	}
	slices.SortFunc(list, func(a, b WorkerTally) int { return strings.Compare(a.Worker, b.Worker) })
	return list
}

// Found returns how often a finding was found.
func (t *Tally) Found(key string) uint64 { return t.found[key] }
