package recording

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"fsward/blocktap"
	"fsward/blocktap/trace"
)

// segmentMark begins the text of the mark at the beginning of each log of a segment. The number of
// the segment and the name of the recording follow.
const segmentMark = "fsward segment "

// A segment is a part of the recording.
type segment struct {
	number int
	bytes  uint64
	ended  time.Time
}

// path returns the path of a segment of a log.
func path(log string, number int) string {
	if number == 0 {
		return log
	}
	return fmt.Sprintf("%s.%06d", log, number)
}

// ring writes segments and discards the oldest ones. Only the recording's goroutine changes it.
type ring struct {
	cfg Config
	id  string

	logs    []*trace.Writer // of the current segment, by disk
	changes []span          // entries of the last change, by disk
	began   time.Time       // of the current segment

	mu       sync.Mutex // guards kept and current
	kept     []segment  // complete ones, the oldest first
	current  segment
	closing  sync.WaitGroup // of complete segments
	closeErr error          // guarded by mu
	retiring chan segment
	retired  chan struct{} // closed when nothing more is retired
}

// A span is entries of a log from first up to end, without it.
type span struct{ first, end uint64 }

// begin checks that no file of the recording exists and creates the first segment.
func (r *ring) begin() error {
	for _, d := range r.cfg.Disks {
		if old, err := segmentsOf(d.Log); err != nil {
			return err
		} else if len(old) > 0 {
			return fmt.Errorf("%s exists already: a log needs a new file", path(d.Log, old[0]))
		}
	}
	for _, d := range r.cfg.Disks {
		if d.Base == "" {
			continue
		}
		if err := beginBase(d, r.id); err != nil {
			return err
		}
	}
	return r.create(0)
}

// create begins a segment.
func (r *ring) create(number int) error {
	r.logs, r.changes, r.began = nil, make([]span, len(r.cfg.Disks)), time.Now()
	for _, d := range r.cfg.Disks {
		log, err := trace.Create(path(d.Log, number))
		if err != nil {
			return errors.Join(err, r.closeLogs(r.logs))
		}
		r.logs = append(r.logs, log)
	}
	trace.Together(r.logs...)
	for _, log := range r.logs {
		if err := log.Mark(fmt.Sprintf("%s%d %s", segmentMark, number, r.id)); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.current = segment{number: number}
	return nil
}

func (r *ring) closeLogs(logs []*trace.Writer) error {
	var errs []error
	for _, log := range logs {
		errs = append(errs, log.Close())
	}
	return errors.Join(errs...)
}

// record writes an entry. A change begins a new segment if the current one is full, so that the
// note about an undone change is in the same segment as the change.
func (r *ring) record(e entry) error {
	log := r.logs[e.disk]
	if e.undone {
		s := r.changes[e.disk]
		return log.Mark(trace.UndoneMark(s.first, s.end))
	}
	change := e.request.Op != blocktap.OpFlush
	if change && r.full() {
		if err := r.rotate(); err != nil {
			return err
		}
		log = r.logs[e.disk]
	}
	first, before := log.Entries(), log.Size()
	if err := log.Log(&e.request); err != nil {
		return err
	}
	if change {
		r.changes[e.disk] = span{first, log.Entries()}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.current.bytes += uint64(log.Size() - before)
	return r.closeErr
}

// full reports whether the current segment has its part of the limits.
func (r *ring) full() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cfg.Bytes > 0 && r.current.bytes >= r.cfg.Bytes/parts || r.old(r.began, 1)
}

// old reports whether a time is longer ago than a number of parts of the bound.
func (r *ring) old(at time.Time, of int) bool {
	return r.cfg.Age > 0 && time.Since(at) >= r.cfg.Age*time.Duration(of)/parts
}

// rotate completes the current segment, begins the next one, and retires those beyond the limits.
func (r *ring) rotate() error {
	logs, complete := r.logs, r.status().current
	complete.ended = time.Now()
	r.closing.Go(func() { // syncs the files, which takes a while
		if err := r.closeLogs(logs); err != nil {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.closeErr = err
		}
	})
	if err := r.create(complete.number + 1); err != nil {
		return err
	}
	r.mu.Lock()
	r.kept = append(r.kept, complete)
	r.mu.Unlock()
	r.expire()
	return nil
}

// expire retires segments beyond the limits. It waits if the bases do not keep up.
func (r *ring) expire() {
	for _, s := range r.beyond() {
		r.retiring <- s
	}
}

// beyond removes the segments beyond the limits from the ring, and returns them.
func (r *ring) beyond() (out []segment) {
	r.mu.Lock()
	defer r.mu.Unlock()
	total := r.current.bytes
	for _, s := range r.kept {
		total += s.bytes
	}
	limit := r.cfg.Bytes - r.cfg.Bytes/parts // the current segment may grow
	for len(r.kept) > 0 && (r.cfg.Bytes > 0 && total > limit || r.old(r.kept[0].ended, parts)) {
		total -= r.kept[0].bytes
		out = append(out, r.kept[0])
		r.kept = r.kept[1:]
	}
	return out
}

// retire makes the writes of segments that leave the ring on the bases, and removes their logs,
// until the ring has ended or one fails.
func (r *ring) retire(fail func(error)) {
	defer close(r.retired)
	failed := false
	for s := range r.retiring {
		if failed {
			continue
		}
		var errs []error
		for _, d := range r.cfg.Disks {
			if d.Base != "" {
				errs = append(errs, fold(d, r.id, s.number))
			}
		}
		for _, d := range r.cfg.Disks {
			if errors.Join(errs...) == nil {
				errs = append(errs, os.Remove(path(d.Log, s.number)))
			}
		}
		if err := errors.Join(errs...); err != nil {
			failed = true
			fail(fmt.Errorf("segment %d cannot be discarded: %w", s.number, err))
		}
	}
}

// end completes the recording.
func (r *ring) end() error {
	close(r.retiring)
	<-r.retired
	err := r.closeLogs(r.logs)
	r.closing.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return errors.Join(err, r.closeErr)
}

// ringStatus is what a ring holds.
type ringStatus struct {
	first   int
	bytes   uint64
	current segment
}

func (r *ring) status() ringStatus {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := ringStatus{first: r.current.number, bytes: r.current.bytes, current: r.current}
	for i, k := range r.kept {
		if i == 0 {
			s.first = k.number
		}
		s.bytes += k.bytes
	}
	return s
}

// segmentsOf lists the numbers of the segments of a log that exist, in order.
func segmentsOf(log string) ([]int, error) {
	var numbers []int
	if _, err := os.Stat(log); err == nil {
		numbers = append(numbers, 0)
	} else if !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	entries, err := os.ReadDir(filepath.Dir(log))
	if err != nil {
		return nil, err
	}
	for _, e := range entries { // in the order of their names
		var n int
		suffix, ok := strings.CutPrefix(e.Name(), filepath.Base(log)+".")
		if !ok || len(suffix) < 6 {
			continue
		}
		if n, err = strconv.Atoi(suffix); err == nil && path(filepath.Base(log), n) == e.Name() {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}
