// Package live audits the crash states of a disk while its writes are recorded: it follows the
// segments of a running guard's recording. What it cannot audit it counts and names, and it never
// makes the recording wait.
//
// Start reading at Follow.
package live

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fsward/blocktap/overlay"
	"fsward/blocktap/trace"
	"fsward/explore/audit"
	"fsward/explore/crash"
)

// A Config says what is followed.
type Config struct {
	Audit audit.Config // Base, Logs, Found and Progress are not used
	Base  string       // path of the copy of the disk that follows the recording
	Log   string       // path of the recording's first segment
	Poll  time.Duration
	// Ended is closed when nothing more is recorded. Follow then audits what is left, and returns.
	Ended <-chan struct{}
	// Report receives what there is to say. An error ends Follow.
	Report func(Report) error
}

// A Report is a finding, entries that are not audited, or how far the audit is.
type Report struct {
	Finding  *audit.Finding `json:"finding,omitempty"` // the first of its kind on its volume
	Skipped  string         `json:"skipped,omitempty"` // why entries from From on are not audited
	From     *audit.Place   `json:"from,omitempty"`
	Progress *Totals        `json:"progress,omitempty"`
}

// Totals count what was followed.
type Totals struct {
	Entries   uint64  `json:"entries"`   // that were performed, of the recording so far
	Skipped   uint64  `json:"skipped"`   // of these, entries after which no states were formed
	Points    int     `json:"points"`    // moments at which states were formed
	Sampled   int     `json:"sampled"`   // moments with too many states to form all
	States    uint64  `json:"states"`    // that were judged
	Violated  uint64  `json:"violated"`  // states with a finding
	Undecided uint64  `json:"undecided"` // states that could not be judged
	Losses    int     `json:"losses"`    // times that the recording discarded what was not audited
	Segment   int     `json:"segment"`   // that is read
	Behind    uint64  `json:"behind"`    // bytes that are recorded and not read
	Seconds   float64 `json:"seconds"`
	Reason    string  `json:"reason,omitempty"` // for the last undecided state
}

// String returns the totals on one line.
func (t Totals) String() string {
	s := fmt.Sprintf("%d states after %d entries: %d violated, %d undecided; %d entries not audited, "+
		"%d losses; %d KiB behind", t.States, t.Entries, t.Violated, t.Undecided, t.Skipped, t.Losses,
		t.Behind>>10)
	if t.Reason != "" {
		s += "; undecided: " + t.Reason
	}
	return s
}

// Bounds of what a follower remembers and does.
const (
	maxKinds   = 256         // of findings that are reported
	lossPause  = time.Minute // between reports of losses; all are counted
	firstRetry = 64          // entries until a disk that could not be audited is tried again
	maxRetry   = 1 << 14     // entries
)

// A follower follows one recording.
type follower struct {
	*Config
	source  *source
	disk    *overlay.Disk  // the base with what is durable or, without auditor, with all writes
	auditor *audit.Auditor // nil: the entries are not audited at the moment
	retry   uint64         // entry at which the audit is tried again
	pause   uint64         // entries until the next try after that
	resume  int            // segment before which it is not tried
	why     string         // the last reason for a missing auditor

	// totals so far, those when the last auditor ended, and those when the base was last known to
	// have been right
	totals, past, valid Totals
	fresh               bool // entries came after the last states of an idle moment
	seen                map[string]bool
	began, shown        time.Time
	mourned             time.Time // when a loss was reported
}

// Follow audits a recording until ctx or the recording ends, and returns the totals.
func Follow(ctx context.Context, cfg Config) (Totals, error) {
	f := &follower{Config: &cfg, seen: make(map[string]bool), began: time.Now()}
	for {
		err := f.follow(ctx)
		if !errors.Is(err, errLost) {
			f.update()
			return f.totals, err
		}
		if err := f.lose(); err != nil {
			return f.totals, err
		}
	}
}

// lose begins anew after the recording has discarded entries too early. What was found since the
// base was last known to be right does not count.
func (f *follower) lose() error {
	t := f.valid
	t.Entries = f.totals.Entries
	t.Skipped = f.totals.Skipped + f.totals.Entries - f.valid.Entries
	t.Losses++
	f.totals, f.past, f.valid = t, t, t
	f.auditor, f.pause, f.retry = nil, 0, 0
	from := f.source.place(f.source.at)
	f.resume = f.source.last()
	if time.Since(f.mourned) < lossPause {
		return nil
	}
	f.mourned = time.Now()
	return f.Report(Report{From: &from, Skipped: "the audit is slower than the guest, and the " +
		"recording discarded entries that were not audited"})
}

// follow opens the recording at its base, and audits its entries.
func (f *follower) follow(ctx context.Context) (err error) {
	at := uint64(0)
	if f.source != nil {
		at = f.source.at
	}
	if f.source, err = openSource(f.Config, at, f.Ended); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.source.close()) }()
	if f.disk, err = overlay.New(f.source); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.disk.Close()) }()
	if err := f.begin(ctx); err != nil {
		return err
	}
	for {
		ended := f.ended() // before the last look for entries: they may come while states are judged
		e, err := f.source.next()
		switch {
		case err == nil:
			err = f.add(ctx, e)
		case !errors.Is(err, errIdle):
		case ended:
			return f.end(ctx)
		default:
			err = f.idle(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// ended reports whether nothing more is recorded.
func (f *follower) ended() bool {
	select {
	case <-f.Ended:
		return true
	default:
		return false
	}
}

// idle waits for more entries, or for the end of the recording.
func (f *follower) idle(ctx context.Context) error {
	if f.auditor != nil && f.fresh {
		f.fresh = false // the states of this moment, for a guest that does not flush
		if err := errors.Join(f.auditor.Now(ctx), f.source.lost()); err != nil {
			return err
		}
	}
	if err := f.progress(); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-f.Ended:
	case <-time.After(f.Poll):
	}
	return nil
}

// end audits the last entries.
func (f *follower) end(ctx context.Context) error {
	for _, e := range f.source.end() {
		if err := f.add(ctx, e); err != nil {
			return err
		}
	}
	if f.auditor == nil {
		return nil
	}
	return errors.Join(f.auditor.Now(ctx), f.source.lost())
}

// add follows one entry.
func (f *follower) add(ctx context.Context, e *trace.Entry) error {
	f.totals.Entries++
	f.fresh = true
	flush := isFlush(e)
	if f.auditor == nil {
		f.totals.Skipped++
		if err := f.apply(e.Off, e.Len, e.Data); err != nil {
			return err
		}
		if flush {
			return f.tryAgain(ctx)
		}
		return nil
	}
	for _, ev := range crash.EntryEvents(e) {
		err := f.auditor.Add(ctx, ev)
		var limit *crash.LimitError
		if errors.As(err, &limit) {
			return f.stop(e, err)
		}
		if err != nil {
			return err
		}
	}
	if !f.auditor.Audits() {
		return f.stop(e, errors.New("a table of volumes was written"))
	}
	if flush {
		return f.flushed(ctx)
	}
	return f.progress()
}

// apply makes a write on the disk. No data stands for zeros.
func (f *follower) apply(off, n uint64, data []byte) error {
	if n == 0 {
		return nil
	}
	if data == nil {
		return f.disk.Zero(off, n)
	}
	_, err := f.disk.WriteAt(data, int64(off))
	return err
}

// flushed checks after a flush that the base was right so far, and makes the disk the new base if
// much has changed.
func (f *follower) flushed(ctx context.Context) error {
	if err := f.source.lost(); err != nil {
		return err
	}
	f.source.settled = f.source.number
	f.count()
	f.valid = f.totals
	if f.auditor.States().Bytes() > f.Audit.Crash.MemoryBytes/2 {
		if err := f.rebase(); err != nil {
			return err
		}
		return f.begin(ctx)
	}
	return f.progress()
}

// rebase makes all writes on the disk, and ends the auditor.
func (f *follower) rebase() error {
	err := f.auditor.States().Latest(f.apply)
	f.count()
	f.past, f.valid, f.auditor = f.totals, f.totals, nil
	return err
}

// stop ends the auditor at an entry, for a reason.
func (f *follower) stop(e *trace.Entry, reason error) error {
	if err := f.rebase(); err != nil {
		return err
	}
	if err := f.apply(e.Off, e.Len, e.Data); err != nil { // it may not be among the writes
		return err
	}
	return f.skip(reason)
}

// skip reports why entries are not audited from here on, once.
func (f *follower) skip(reason error) error {
	f.pause = min(max(2*f.pause, firstRetry), maxRetry)
	f.retry = f.totals.Entries + f.pause
	if reason.Error() == f.why {
		return nil
	}
	f.why = reason.Error()
	from := f.source.place(f.source.at)
	return f.Report(Report{Skipped: f.why, From: &from})
}

// tryAgain begins to audit after a flush, if it is time to try it.
func (f *follower) tryAgain(ctx context.Context) error {
	if err := f.source.lost(); err != nil {
		return err
	}
	f.source.settled = f.source.number
	f.valid = f.totals
	if f.totals.Entries < f.retry {
		return f.progress()
	}
	return f.begin(ctx)
}

// begin begins to audit with the disk as it is. A disk that cannot be audited is no error.
func (f *follower) begin(ctx context.Context) error {
	if f.source.number < f.resume {
		return f.progress()
	}
	cfg := f.Audit
	cfg.Base, cfg.Found = f.disk, f.found
	a, err := audit.New(ctx, cfg, f.source.place)
	if err := errors.Join(ctx.Err(), f.source.lost()); err != nil {
		return err
	}
	if err != nil {
		return f.skip(fmt.Errorf("the disk cannot be audited: %w", err))
	}
	f.auditor, f.pause, f.why = a, 0, ""
	return nil
}

// found reports the first finding of its kind on a volume.
func (f *follower) found(found *audit.Finding, _ *crash.State) error {
	if err := f.source.lost(); err != nil {
		return err
	}
	key := found.Volume + "\x00" + found.Kind
	if f.seen[key] || len(f.seen) >= maxKinds {
		return nil
	}
	f.seen[key] = true
	return f.Report(Report{Finding: found})
}

// count brings the numbers of states up to date.
func (f *follower) count() {
	if f.auditor == nil {
		return
	}
	t, sum := &f.totals, f.auditor.Summary()
	t.Points, t.Sampled = f.past.Points+sum.Points, f.past.Sampled+sum.Sampled
	t.States, t.Violated = f.past.States+sum.States, f.past.Violated+sum.Violated
	t.Undecided = f.past.Undecided + sum.Undecided
	if len(sum.Reasons) > 0 {
		t.Reason = sum.Reasons[len(sum.Reasons)-1]
	}
}

// update brings the totals up to date.
func (f *follower) update() {
	f.count()
	if f.source != nil {
		f.totals.Segment, f.totals.Behind = f.source.number, f.source.behind()
	}
	f.totals.Seconds = time.Since(f.began).Seconds()
}

// progress reports the totals, once a second at most.
func (f *follower) progress() error {
	if time.Since(f.shown) < time.Second {
		return nil
	}
	f.shown = time.Now()
	f.update()
	totals := f.totals
	return f.Report(Report{Progress: &totals})
}
