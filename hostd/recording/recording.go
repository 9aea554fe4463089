// Package recording records the writes to a guest's disks in a ring of segments, without touching
// the guest: a recording that fails stops. Start reading at Recording.
package recording

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"fsward/blocktap"
)

const (
	// parts is the number of segments that Limits are divided into.
	parts = 8
	// queueBytes bounds the writes that wait to be recorded, and overhead is what a write counts
	// beside its data.
	queueBytes = 32 << 20
	overhead   = 1024
	// The guest waits for room in the queue for at most patience in each span of patienceEvery. Then
	// the recording stops.
	patience      = time.Second
	patienceEvery = time.Minute
	closePatience = 5 * time.Second // of Close with the last writes
)

// Limits bound a recording.
type Limits struct {
	Bytes uint64        // of the logs of all disks, about; 0: no bound
	Age   time.Duration // older segments are discarded; 0: no bound
}

// Config says what is recorded, and where.
type Config struct {
	Disks []Disk
	Limits
}

// A Disk is a disk to record.
type Disk struct {
	Log string // path of the first segment; later ones have .000001, … appended
	// Base is the path of a copy of the disk as it is now, which follows the ring; "" for none
	Base string
	Size uint64 // of the disk, bytes
}

// A Recording records the disks of one guest. The guest's writes go through a queue of bounded size
// to its own goroutine. If that is stuck or too slow, writes wait for a second in all, and then the
// recording stops.
//
// Each segment holds one log for each disk in dm-log-writes format, and the order of the writes
// across disks. When a segment leaves the ring, its writes are made on the bases, so that a base
// and the remaining segments can be replayed. Without bases the ring can be replayed from the image
// as it was before the recording only until the first segment is discarded.
type Recording struct {
	cfg     Config
	id      string
	failing func(error) // set by Start; nil before

	room    *semaphore.Weighted // of the queue, bytes
	entries chan entry
	done    chan struct{}
	ring    ring

	waits  sync.Mutex // guards waited and since
	waited time.Duration
	since  time.Time

	failed  atomic.Bool
	failure sync.Once
	mu      sync.Mutex
	err     error
}

// An entry is a request that was logged, or the note that the last change was not performed.
type entry struct {
	disk    int
	request blocktap.Request
	undone  bool
	cost    int64
}

// Create begins a recording. It returns an error if a file of the recording exists, or if a base is
// no copy of its disk.
func Create(cfg Config) (*Recording, error) {
	r := &Recording{cfg: cfg, id: rand.Text()[:12], room: semaphore.NewWeighted(queueBytes),
		entries: make(chan entry, queueBytes/overhead), done: make(chan struct{})}
	r.ring = ring{cfg: cfg, id: r.id, retiring: make(chan segment, parts),
		retired: make(chan struct{})}
	if err := r.ring.begin(); err != nil {
		return nil, err
	}
	return r, nil
}

// Start begins to write what is logged. failing is called at most once, if the recording has failed
// and has stopped. It must not block.
func (r *Recording) Start(failing func(error)) {
	r.failing = failing
	go r.ring.retire(r.fail)
	go r.run()
}

// Recorder returns the recorder of a disk. It never returns an error.
func (r *Recording) Recorder(disk int) blocktap.UndoRecorder { return recorder{r, disk} }

type recorder struct {
	r    *Recording
	disk int
}

// Log queues a request.
func (d recorder) Log(r *blocktap.Request) error {
	if r.Op == blocktap.OpRead {
		return nil
	}
	e := entry{disk: d.disk, request: *r}
	e.request.Data = nil
	if r.Op == blocktap.OpWrite {
		e.request.Data = bytes.Clone(r.Data)
	}
	d.r.queue(e)
	return nil
}

// Undone queues the note that the last change was not performed.
func (d recorder) Undone(*blocktap.Request) { d.r.queue(entry{disk: d.disk, undone: true}) }

func (r *Recording) queue(e entry) {
	if r.failed.Load() {
		return
	}
	e.cost = min(int64(len(e.request.Data))+overhead, queueBytes)
	if !r.room.TryAcquire(e.cost) && !r.wait(e.cost) {
		r.fail(fmt.Errorf("the disk of the log is slower than the guest: writes waited for %v", patience))
		return
	}
	r.entries <- e // has room, because the cost of each entry is at least overhead
}

// wait waits for room in the queue. It returns false if the guest has waited long enough.
func (r *Recording) wait(bytes int64) bool {
	r.waits.Lock()
	defer r.waits.Unlock()
	start := time.Now()
	if start.Sub(r.since) >= patienceEvery {
		r.since, r.waited = start, 0
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience-r.waited)
	defer cancel()
	err := r.room.Acquire(ctx, bytes)
	r.waited += time.Since(start)
	return err == nil
}

// run records the entries until Close.
func (r *Recording) run() {
	defer close(r.done)
	var tick <-chan time.Time
	if r.cfg.Age > 0 {
		t := time.NewTicker(max(r.cfg.Age/parts, time.Millisecond))
		defer t.Stop()
		tick = t.C
	}
	for {
		var err error
		select {
		case e, open := <-r.entries:
			if !open {
				if err := r.ring.end(); err != nil {
					r.fail(err)
				}
				return
			}
			if !r.failed.Load() {
				err = r.ring.record(e)
			}
			r.room.Release(e.cost)
		case <-tick:
			if !r.failed.Load() {
				r.ring.expire()
			}
		}
		if err != nil {
			r.fail(err)
		}
	}
}

// fail stops the recording.
func (r *Recording) fail(err error) {
	r.failure.Do(func() {
		r.mu.Lock()
		r.err = err
		r.mu.Unlock()
		r.failed.Store(true)
		r.failing(err)
	})
}

// Status is the state of a recording.
type Status struct {
	Logs  []string `json:"logs"`  // the paths of the first segment
	First int      `json:"first"` // number of the first segment that is kept
	Last  int      `json:"last"`
	Bytes uint64   `json:"bytes"`
	Error string   `json:"error,omitempty"` // why it has stopped; "": it has not
}

// Status returns the state of the recording; nil for a nil Recording.
func (r *Recording) Status() *Status {
	if r == nil {
		return nil
	}
	ring := r.ring.status()
	s := Status{First: ring.first, Last: ring.current.number, Bytes: ring.bytes}
	for _, d := range r.cfg.Disks {
		s.Logs = append(s.Logs, d.Log)
	}
	if err := r.Err(); err != nil {
		s.Error = err.Error()
	}
	return &s
}

// Err returns why the recording has stopped; nil if it has not, and for a nil Recording.
func (r *Recording) Err() error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Close ends the recording when nothing more is logged. It waits a bounded time for
// what is queued. It returns an error if the recording fails then, and nil if it had failed before.
// A nil Recording does nothing.
func (r *Recording) Close() error {
	if r == nil {
		return nil
	}
	if r.failing == nil { // it was not started
		return r.ring.closeLogs(r.ring.logs)
	}
	failed := r.failed.Load()
	close(r.entries)
	select {
	case <-r.done:
	case <-time.After(closePatience):
		r.fail(errors.New("the disk of the log did not take the last writes"))
	}
	if failed {
		return nil
	}
	return r.Err()
}
