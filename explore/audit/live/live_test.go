package live_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"fsward/blocktap"
	"fsward/blocktap/trace"
	"fsward/explore/audit"
	"fsward/explore/audit/live"
	"fsward/explore/crash"
	"fsward/hostd/recording"
)

const recordings = "../../../hostd/guard/testdata/logs/"

// A rig is a disk that is recorded, and an audit that follows the recording.
type rig struct {
	t      *testing.T
	fs     string
	device *blocktap.Device
	rec    *recording.Recording
	cfg    live.Config
	ended  chan struct{}

	found, skipped []string
}

// refuse refuses every change that it is told to.
type refuse struct{ next bool }

func (r *refuse) Handle(_ context.Context, _ *blocktap.Request, do func() error) error {
	if r.next {
		r.next = false
		return blocktap.ErrRefused
	}
	return do()
}

// unpack writes the content of an image to a file.
func unpack(t *testing.T, image, path string) {
	t.Helper()
	d, err := blocktap.OpenImage(image)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	content := make([]byte, d.Size())
	if _, err := d.ReadAt(content, 0); err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// newRig records a disk with the base of a recording.
func newRig(t *testing.T, fs string, limit uint64, hook blocktap.Hook) *rig {
	t.Helper()
	dir := t.TempDir()
	image, base := filepath.Join(dir, "disk"), filepath.Join(dir, "base")
	log := filepath.Join(dir, "log")
	unpack(t, recordings+fs+".base.zst", image)
	unpack(t, recordings+fs+".base.zst", base)
	disk, err := blocktap.OpenFile(image, blocktap.FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = disk.Close() })
	r := &rig{t: t, fs: fs, ended: make(chan struct{})}
	r.rec, err = recording.Create(recording.Config{Limits: recording.Limits{Bytes: limit},
		Disks: []recording.Disk{{Log: log, Base: base, Size: disk.Size()}}})
	if err != nil {
		t.Fatal(err)
	}
	r.rec.Start(func(err error) { t.Error(err) })
	r.device = blocktap.NewDevice(disk, hook)
	r.device.Record(r.rec.Recorder(0))
	r.cfg = live.Config{Base: base, Log: log, Poll: time.Millisecond, Ended: r.ended,
		Audit: audit.Config{FS: "auto", Crash: crash.Options{Limit: 20, Seed: 1,
			MemoryBytes: 256 << 20}},
		Report: func(rep live.Report) error {
			if rep.Finding != nil {
				r.found = append(r.found, rep.Finding.Kind)
			}
			if rep.Skipped != "" {
				r.skipped = append(r.skipped, rep.Skipped)
			}
			return nil
		}}
	return r
}

// write has the guest make the writes of the recording.
func (r *rig) write(keep func(q *blocktap.Request) bool) {
	r.t.Helper()
	f, err := trace.Open(recordings + r.fs + ".log.zst")
	if err != nil {
		r.t.Fatal(err)
	}
	defer f.Close()
	for {
		e, err := f.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			r.t.Fatal(err)
		}
		if q, ok := e.Request(); ok && keep(&q) {
			if err := r.device.Do(r.t.Context(), &q); err != nil {
				r.t.Fatal(err)
			}
		}
	}
}

// audit ends the recording, and follows it to its end.
func (r *rig) audit(load func()) live.Totals {
	r.t.Helper()
	go func() {
		load()
		if err := r.rec.Close(); err != nil {
			r.t.Error(err)
		}
		close(r.ended)
	}()
	totals, err := live.Follow(r.t.Context(), r.cfg)
	if err != nil {
		r.t.Fatal(err)
	}
	return totals
}

func all(*blocktap.Request) bool { return true }

func unflushed(q *blocktap.Request) bool {
	q.FUA = false
	return q.Op != blocktap.OpFlush
}

// The crash states of a sound guest are sound, and all entries are audited.
func TestSound(t *testing.T) {
	for _, fs := range []string{"ext3", "btrfs"} {
		r := newRig(t, fs, 0, nil)
		totals := r.audit(func() { r.write(all) })
		if len(r.found) > 0 || len(r.skipped) > 0 || totals.States < 80 || totals.Skipped > 0 ||
			totals.Undecided > 0 {
			t.Errorf("%s: %+v, found %q, skipped %q", fs, totals, r.found, r.skipped)
		}
	}
}

// A guest that does not flush is found, in each segment of a ring.
func TestUnflushed(t *testing.T) {
	for _, fs := range []string{"ext3", "btrfs"} {
		for _, limit := range []uint64{0, 8 << 20} {
			r := newRig(t, fs, limit, nil)
			totals := r.audit(func() { r.write(unflushed) })
			if len(r.found) == 0 || totals.Violated == 0 {
				t.Errorf("%s: %+v, found %q", fs, totals, r.found)
			}
		}
	}
}

// Entries that come while the audit is about to wait, at the end of the recording, are audited.
func TestLastEntries(t *testing.T) {
	r := newRig(t, "ext3", 0, nil)
	report, written := r.cfg.Report, false
	r.cfg.Report = func(rep live.Report) error {
		if !written {
			written = true
			r.write(unflushed)
			if err := r.rec.Close(); err != nil {
				return err
			}
			close(r.ended)
		}
		return report(rep)
	}
	totals, err := live.Follow(t.Context(), r.cfg)
	if err != nil || totals.Entries == 0 || len(r.found) == 0 {
		t.Errorf("%+v, found %q, %v", totals, r.found, err)
	}
}

// A small bound of memory makes the disk the new base again and again.
func TestRebase(t *testing.T) {
	r := newRig(t, "ext3", 0, nil)
	r.cfg.Audit.Crash.MemoryBytes = 512 << 10
	totals := r.audit(func() { r.write(all) })
	if len(r.found) > 0 || totals.States < 20 || totals.States == 0 {
		t.Errorf("%+v, found %q, skipped %q", totals, r.found, r.skipped)
	}
}

// A write that was refused is in no crash state.
func TestRefused(t *testing.T) {
	hook := &refuse{}
	r := newRig(t, "ext3", 0, hook)
	totals := r.audit(func() {
		hook.next = true
		garbage := blocktap.Request{Op: blocktap.OpWrite, Len: 1 << 20, Data: make([]byte, 1<<20)}
		if err := r.device.Do(t.Context(), &garbage); !errors.Is(err, blocktap.ErrRefused) {
			t.Error(err)
		}
		r.write(all)
	})
	if len(r.found) > 0 || totals.States < 80 {
		t.Errorf("%+v, found %q", totals, r.found)
	}
	r = newRig(t, "ext3", 0, nil)
	r.audit(func() {
		garbage := blocktap.Request{Op: blocktap.OpWrite, Len: 1 << 20, Data: make([]byte, 1<<20)}
		if err := r.device.Do(t.Context(), &garbage); err != nil {
			t.Error(err)
		}
	})
	if len(r.found) == 0 {
		t.Error("the same write is not found if it was performed")
	}
}

// A ring that discards entries before they are audited is no finding, and is said. The audit goes
// on with what is recorded later.
func TestLost(t *testing.T) {
	r := newRig(t, "ext3", 256<<10, nil)
	started, resume := make(chan struct{}), make(chan struct{})
	start := sync.OnceFunc(func() { close(started) })
	r.cfg.Audit.Check = func(context.Context, *crash.State) (*audit.Problem, error) {
		select {
		case <-started: // at most one state, that of the base which has changed
			return nil, nil
		default:
		}
		start()
		<-resume
		return &audit.Problem{Kind: "wrong", Text: "the base has changed"}, nil
	}
	totals := r.audit(func() {
		defer close(resume)
		r.write(all)
		<-started // and now the audit stands still, in the newest segment or before it
		first := func() int {
			state, err := recording.AbsorbedBy(r.cfg.Base)
			if err != nil {
				t.Error(err)
			}
			return state.First
		}
		newest := first()
		for exists(recording.Segment(r.cfg.Log, newest+1)) {
			newest++
		}
		for first() <= newest && !t.Failed() {
			r.write(all)
		}
	})
	if totals.Losses == 0 || len(r.found) > 0 || totals.Violated > 0 || len(r.skipped) != 1 ||
		!strings.Contains(r.skipped[0], "slower") || totals.Skipped == 0 {
		t.Errorf("%+v, found %q, skipped %q", totals, r.found, r.skipped)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// A disk without a file system is not audited until it has one.
func TestBlank(t *testing.T) {
	r := newRig(t, "ext3", 0, nil)
	for _, path := range []string{r.cfg.Base} {
		if err := os.WriteFile(path, make([]byte, r.device.Size()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	image, err := blocktap.OpenImage(recordings + "ext3.base.zst")
	if err != nil {
		t.Fatal(err)
	}
	defer image.Close()
	totals := r.audit(func() {
		data := make([]byte, 64<<10)
		for off := uint64(0); off < image.Size(); off += uint64(len(data)) {
			if _, err := image.ReadAt(data, int64(off)); err != nil && !errors.Is(err, io.EOF) {
				t.Error(err)
			}
			q := blocktap.Request{Op: blocktap.OpWrite, Off: off, Len: uint64(len(data)), Data: data}
			if err := r.device.Do(t.Context(), &q); err != nil {
				t.Error(err)
			}
		}
		r.write(all)
	})
	if len(r.found) > 0 || len(r.skipped) != 1 || totals.Skipped == 0 || totals.States < 50 {
		t.Errorf("%+v, found %q, skipped %q", totals, r.found, r.skipped)
	}
}

// A segment that is missing is an error: it does not come back.
func TestMissingSegment(t *testing.T) {
	r := newRig(t, "ext3", 0, nil)
	if err := errors.Join(r.rec.Close(), os.Remove(r.cfg.Log)); err != nil {
		t.Fatal(err)
	}
	totals, err := live.Follow(t.Context(), r.cfg)
	if err == nil || !strings.Contains(err.Error(), r.cfg.Log+" is missing") {
		t.Errorf("%+v, %v", totals, err)
	}
}
