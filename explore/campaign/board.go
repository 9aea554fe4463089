package campaign

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/nats-io/nats.go/jetstream"
)

// A board has the campaigns whose units a worker may run.
type board struct {
	worker *Worker

	mu      sync.Mutex
	jobs    map[string]*job
	refused map[string]error // why campaigns that are not canceled were refused
	read    bool             // all campaigns of the server were read
}

// A job is a campaign on a board.
type job struct {
	q *Queue
	// context is done when the campaign is canceled, and ends its commands.
	context context.Context
	cancel  context.CancelFunc

	mu        sync.Mutex
	state     State
	submitted bool

	filling sync.Mutex
	tally   *Tally
}

func newBoard(w *Worker) *board {
	return &board{worker: w, jobs: make(map[string]*job), refused: make(map[string]error)}
}

func (j *job) isRunning() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.state == Running
}

// set sets the state of a campaign.
func (j *job) set(r *Record) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.state, j.submitted = r.State, r.Submitted; r.State == Canceled {
		j.cancel()
	}
}

// refill queues the units that the server lost, and returns how many: it may forget what it did not
// sync when its machine dies. Whoever has no unit calls it.
func (j *job) refill(ctx context.Context) (queued uint64, err error) {
	j.mu.Lock()
	complete := j.state == Running && j.submitted
	j.mu.Unlock()
	if !complete || !j.filling.TryLock() { // or another slot does it
		return 0, nil
	}
	defer j.filling.Unlock()
	if j.tally.Done() {
		return 0, nil
	}
	// A unit leaves the queue after its result came. So if there are none, all results are there.
	info, err := j.q.units.Info(ctx)
	if err != nil || info.State.Msgs > 0 {
		return 0, err
	}
	return j.q.submit(ctx, j.tally)
}

// watch follows the records of the server's campaigns until the context is done.
func (b *board) watch(ctx context.Context) {
	for ctx.Err() == nil {
		if err := b.follow(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, ErrNone) {
			b.worker.tell(Event{Event: "trouble", Text: err.Error()})
		}
		pause(ctx, idleWait)
	}
}

// follow follows the records until the connection has trouble.
func (b *board) follow(ctx context.Context) error {
	kv, err := b.worker.Client.bucket(ctx)
	if err != nil {
		return err
	}
	w, err := kv.WatchAll(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = w.Stop() }() // it may have ended with the connection
	for {
		select {
		case <-ctx.Done():
			return nil
		case entry, ok := <-w.Updates():
			if !ok {
				return errors.New("the server does not report changes any more")
			}
			if entry == nil {
				b.mu.Lock()
				b.read = true
				b.mu.Unlock()
				continue
			}
			b.update(ctx, entry)
		}
	}
}

// update takes a record into account.
func (b *board) update(ctx context.Context, entry jetstream.KeyValueEntry) {
	name := entry.Key()
	if b.worker.Campaign != "" && name != b.worker.Campaign {
		return
	}
	refuse := func(err error) { b.refuse(name, err) }
	r, err := decodeRecord(entry)
	if err == nil {
		err = b.worker.Check(&r.Definition)
	}
	if err != nil {
		refuse(err)
		if r.State == Canceled { // it needs no worker
			b.mu.Lock()
			delete(b.refused, name)
			b.mu.Unlock()
		}
		return
	}
	b.mu.Lock()
	j := b.jobs[name]
	b.mu.Unlock()
	if j != nil && j.q.digest == r.Definition.Digest() {
		j.set(&r)
		return
	}
	q, err := b.worker.Client.Open(ctx, name)
	if err != nil {
		refuse(err)
		return
	}
	j = &job{q: q, tally: q.NewTally()}
	j.context, j.cancel = context.WithCancel(ctx)
	j.set(&r)
	b.mu.Lock()
	b.jobs[name] = j
	delete(b.refused, name)
	b.mu.Unlock()
}

// allRefused returns ErrBroken if campaigns were refused, and none was not.
func (b *board) allRefused() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.jobs) > 0 || len(b.refused) == 0 {
		return nil
	}
	name := slices.Min(slices.Collect(maps.Keys(b.refused)))
	return fmt.Errorf("%w: all campaigns were refused; %s: %w", ErrBroken, cleanText(name),
		b.refused[name])
}

// refuse takes a campaign off the board. If the worker is there for this campaign only, it ends.
func (b *board) refuse(name string, err error) {
	b.worker.tell(Event{Event: "refused", Campaign: cleanText(name), Text: err.Error()})
	b.mu.Lock()
	if j := b.jobs[name]; j != nil {
		j.cancel()
		delete(b.jobs, name)
	}
	b.refused[name] = err
	b.mu.Unlock()
	if b.worker.Campaign != "" {
		b.worker.stop(err)
	}
}

// next returns a running campaign, another one each turn, and how many there are; nil: none is
// running.
func (b *board) next(turn int) (j *job, running int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var names []string
	for name, j := range b.jobs {
		if j.isRunning() {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, 0
	}
	slices.Sort(names)
	return b.jobs[names[turn%len(names)]], len(names)
}

// done reports whether the campaigns need no worker any more: their queues are empty, or they are
// canceled.
func (b *board) done(ctx context.Context) bool {
	b.mu.Lock()
	jobs := make([]*job, 0, len(b.jobs))
	for _, j := range b.jobs {
		jobs = append(jobs, j)
	}
	read := b.read
	b.mu.Unlock()
	for _, j := range jobs {
		j.mu.Lock()
		state, submitted := j.state, j.submitted
		j.mu.Unlock()
		if state == Canceled {
			continue
		}
		info, err := j.q.units.Info(ctx)
		if !submitted || err != nil || info.State.Msgs > 0 {
			return false
		}
	}
	return read
}
