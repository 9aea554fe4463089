package campaign

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/nats-io/nats.go/jetstream"
)

// Bounds of the tally that the server keeps.
const (
	// keepEvery is the number of results after which a worker keeps a tally. Who reads the results
	// after that reads about as many.
	keepEvery = 1024
	maxKept   = 512 << 10 // bytes, compressed; the server accepts 1 MiB
	maxTally  = 8 << 20   // bytes
)

// keptKey is the tally in its bucket.
const keptKey = "tally"

// A kept tally is what the results up to one add up to. It saves reading them; whoever does not
// find it, or does not believe it, reads them all.
type keptTally struct {
	Digest  string            `json:"campaign"` // of the definition
	Read    uint64            `json:"read"`     // number of the last message
	Counts  Tally             `json:"counts"`
	Doubled uint64            `json:"doubled"`
	Done    spans             `json:"done"`
	Split   []span            `json:"split"`
	Workers []WorkerTally     `json:"workers"`
	Found   map[string]uint64 `json:"found"`
	Active  time.Duration     `json:"active"`
	Last    time.Time         `json:"last"`
}

func (k *keptTally) check() error {
	c := &k.Counts
	switch {
	case !hashPattern.MatchString(k.Digest):
		return fmt.Errorf("the campaign %.20q", k.Digest)
	case k.Done.size()+k.Doubled != c.Tested+c.Poisoned || uint64(len(k.Split)) != c.Splits,
		c.Results+c.Differences+c.Bad != k.Read, !(c.Seconds >= 0), k.Active < 0:
		return errors.New("the numbers do not add up")
	}
	for _, w := range k.Workers {
		if err := checkText("the worker", w.Worker); err != nil {
			return err
		}
	}
	for key := range k.Found {
		if !hashPattern.MatchString(key) {
			return fmt.Errorf("the finding %.20q", key)
		}
	}
	return nil
}

// keep keeps a tally of the results so far.
func (q *Queue) keep(ctx context.Context) error {
	t := q.NewTally()
	if err := t.Read(ctx); err != nil {
		return err
	}
	k := &keptTally{Digest: q.digest, Read: t.read, Counts: *t, Doubled: t.doubled, Done: t.done,
		Workers: t.Workers(), Found: t.found, Active: t.active, Last: t.last}
	for s := range t.splits {
		k.Split = append(k.Split, s)
	}
	text, err := encodeWithin(maxTally, k)
	if err != nil {
		return err
	}
	packed, err := compress(text)
	if err != nil {
		return err
	}
	if len(packed) > maxKept {
		return fmt.Errorf("the tally has %d bytes: more than %d", len(packed), maxKept)
	}
	_, err = q.kept.Put(ctx, keptKey, packed)
	return err
}

func compress(text []byte) ([]byte, error) {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	return z.EncodeAll(text, nil), z.Close()
}

// believed returns a tally that the server keeps if it can be one of the campaign's results up to
// number last; nil: it cannot, and all results must be read.
func (q *Queue) believed(packed []byte, last uint64) *keptTally {
	k, err := decodeKept(packed)
	if err != nil || k.Digest != q.digest || k.Read > last || k.Done.within(&q.Definition) != nil {
		return nil
	}
	return k
}

// restore makes the tally the one that the server keeps, if that is believed.
func (t *Tally) restore(ctx context.Context, last uint64) error {
	entry, err := t.queue.kept.Get(ctx, keptKey)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	k := t.queue.believed(entry.Value(), last)
	if k == nil {
		return nil
	}
	q := t.queue
	*t = k.Counts
	t.queue, t.read, t.doubled, t.done = q, k.Read, k.Doubled, k.Done
	t.splits, t.workers, t.found = make(map[span]bool), make(map[string]*WorkerTally), k.Found
	t.active, t.last = k.Active, k.Last
	for _, s := range k.Split {
		t.splits[s] = true
	}
	for _, w := range k.Workers {
		t.workers[w.Worker] = &w
	}
	if t.found == nil {
		t.found = make(map[string]uint64)
	}
	return nil
}

// decodeKept reads a tally that the server keeps.
func decodeKept(packed []byte) (*keptTally, error) {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxTally))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	text, err := z.DecodeAll(packed, nil)
	if err != nil {
		return nil, err
	}
	k := new(keptTally)
	return k, decodeWithin(maxTally, text, k)
}
