package recording_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fsward/blocktap"
	"fsward/blocktap/trace"
	"fsward/hostd/recording"
)

const diskSize = 1 << 20

// rig has two disks whose writes are recorded. Every seventh change is refused.
type rig struct {
	t       *testing.T
	dir     string
	cfg     recording.Config
	rec     *recording.Recording
	devices []*blocktap.Device
	random  *rand.Rand
	failed  chan error
}

func newRig(t *testing.T, limits recording.Limits, bases bool) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir(), cfg: recording.Config{Limits: limits},
		random: rand.New(rand.NewPCG(1, 2)), failed: make(chan error, 1)}
	for i := range 2 {
		content := make([]byte, diskSize)
		for j := range content {
			content[j] = byte(r.random.Uint32())
		}
		d := recording.Disk{Log: r.file("log", i), Size: diskSize}
		r.write(r.file("disk", i), content)
		r.write(r.file("before", i), content)
		if bases {
			d.Base = r.file("base", i)
			r.write(d.Base, content)
		}
		r.cfg.Disks = append(r.cfg.Disks, d)
	}
	var err error
	if r.rec, err = recording.Create(r.cfg); err != nil {
		t.Fatal(err)
	}
	for i := range r.cfg.Disks {
		disk, err := blocktap.OpenFile(r.file("disk", i), blocktap.FileOptions{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = disk.Close() })
		device := blocktap.NewDevice(disk, everySeventh{})
		device.Record(r.rec.Recorder(i))
		r.devices = append(r.devices, device)
	}
	blocktap.TakeTurns(r.devices...)
	r.rec.Start(func(err error) { r.failed <- err })
	return r
}

type everySeventh struct{}

func (everySeventh) Handle(_ context.Context, r *blocktap.Request, do func() error) error {
	if r.Seq%7 == 0 {
		return blocktap.ErrRefused
	}
	return do()
}

func (r *rig) file(name string, disk int) string {
	return filepath.Join(r.dir, fmt.Sprintf("%s.%c", name, 'a'+disk))
}

func (r *rig) write(path string, content []byte) {
	r.t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) read(path string) []byte {
	r.t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		r.t.Fatal(err)
	}
	return content
}

// work makes n random requests.
func (r *rig) work(n int) {
	r.t.Helper()
	for range n {
		q := &blocktap.Request{Op: blocktap.OpWrite, Len: 512 * (1 + r.random.Uint64N(16)),
			FUA: r.random.IntN(9) == 0}
		q.Off = 512 * r.random.Uint64N((diskSize-q.Len)/512)
		switch r.random.IntN(10) {
		case 0:
			q = &blocktap.Request{Op: blocktap.OpFlush}
		case 1:
			q.Op = blocktap.OpZero
		default:
			q.Data = bytes.Repeat([]byte{byte(r.random.Uint32())}, int(q.Len))
		}
		err := r.devices[r.random.IntN(2)].Do(r.t.Context(), q)
		if err != nil && err != blocktap.ErrRefused { //nolint:errorlint // exactly this one
			r.t.Fatal(err)
		}
	}
}

// replay makes the writes of the recording on copies of some images, and compares the result with
// the disks.
func (r *rig) replay(images string) error {
	var logs, bases []string
	for i, d := range r.cfg.Disks {
		logs, bases = append(logs, d.Log), append(bases, r.file(images, i))
	}
	found, err := recording.Find(logs, bases)
	if err != nil {
		return err
	}
	for i := range logs {
		copied := r.file("copy", i)
		r.write(copied, r.read(bases[i]))
		disk, err := blocktap.OpenFile(copied, blocktap.FileOptions{})
		if err != nil {
			return err
		}
		all := found.Before[i]
		for _, files := range found.Segments {
			all = append(all, files[i])
		}
		for _, log := range all {
			if err := recording.Apply(log, disk); err != nil {
				return err
			}
		}
		if err := disk.Close(); err != nil {
			return err
		}
		if !bytes.Equal(r.read(copied), r.read(r.file("disk", i))) {
			return fmt.Errorf("disk %d is not what it was", i)
		}
	}
	// The order across disks is in each segment.
	for _, files := range found.Segments {
		var readers []*trace.Reader
		for _, path := range files {
			log, err := trace.Open(path)
			if err != nil {
				return err
			}
			defer log.Close()
			readers = append(readers, log.Reader)
		}
		if _, err := trace.Merge(readers...); err != nil {
			return err
		}
	}
	return nil
}

func (r *rig) close() {
	r.t.Helper()
	if err := r.rec.Close(); err != nil {
		r.t.Fatal(err)
	}
	if len(r.failed) > 0 {
		r.t.Fatal(<-r.failed)
	}
}

// TestRingFollowedByBases checks that bases and the segments that are left give the disks, that the
// ring is bounded, and that refused writes are on no base.
func TestRingFollowedByBases(t *testing.T) {
	const limit = 2 << 20
	r := newRig(t, recording.Limits{Bytes: limit}, true)
	for range 8 {
		r.work(300)
		if s := r.rec.Status(); s.Bytes > limit || s.Error != "" {
			t.Errorf("%+v", s)
		}
	}
	r.close()
	s := r.rec.Status()
	if s.First == 0 || s.Last-s.First < 3 {
		t.Errorf("%+v: too few segments to show anything", s)
	}
	if err := r.replay("base"); err != nil {
		t.Error(err)
	}
	if err := r.replay("before"); err == nil || !strings.Contains(err.Error(), "--record-base") {
		t.Errorf("the first segments are gone, but the replay from the image before says %v", err)
	}
	left, err := filepath.Glob(filepath.Join(r.dir, "log.*"))
	if want := 2 * (s.Last - s.First + 1); err != nil || len(left) != want {
		t.Errorf("%d files are left of %d (%v)", len(left), want, err)
	}
	_, err = recording.Create(r.cfg)
	if err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("a second recording over the first: %v", err)
	}
}

// TestInterruptedFold checks that a base on which a part of a segment's writes were made is
// completed before a replay.
func TestInterruptedFold(t *testing.T) {
	r := newRig(t, recording.Limits{Bytes: 64 << 20}, true)
	r.work(500)
	r.close()
	base, err := blocktap.OpenFile(r.cfg.Disks[0].Base, blocktap.FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := recording.Apply(r.cfg.Disks[0].Log, base); err != nil {
		t.Fatal(err)
	}
	if _, err := base.WriteAt(make([]byte, 512), 0); err != nil { // the last write came to naught
		t.Fatal(err)
	}
	_ = base.Close()
	state := r.read(r.cfg.Disks[0].Base + ".state")
	r.write(r.cfg.Disks[0].Base+".state", bytes.Replace(state, []byte(`false`), []byte(`true`), 1))
	found, err := recording.Find([]string{r.cfg.Disks[0].Log, r.cfg.Disks[1].Log},
		[]string{r.cfg.Disks[0].Base, r.cfg.Disks[1].Base})
	if err != nil || len(found.Before[0]) != 1 || len(found.Before[1]) != 1 ||
		len(found.Segments) != 0 {
		t.Errorf("%+v, %v: want segment 0 before the replay, on both disks", found, err)
	}
}

// TestAge checks that segments are discarded when they are old.
func TestAge(t *testing.T) {
	r := newRig(t, recording.Limits{Age: 80 * time.Millisecond}, true)
	for range 300 {
		r.work(5)
		if r.rec.Status().First > 2 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	r.close()
	if s := r.rec.Status(); s.First == 0 {
		t.Errorf("%+v: nothing was discarded", s)
	}
	if err := r.replay("base"); err != nil {
		t.Error(err)
	}
}

// TestWithoutLimits checks that the recording is one log, as it was before there were segments.
func TestWithoutLimits(t *testing.T) {
	r := newRig(t, recording.Limits{}, false)
	r.work(1000)
	r.close()
	if s := r.rec.Status(); s.First != 0 || s.Last != 0 || s.Bytes == 0 {
		t.Errorf("%+v", s)
	}
	if err := r.replay("before"); err != nil {
		t.Error(err)
	}
}

// TestBaseOfAnotherSize checks that a base that cannot be a copy of its disk is refused.
func TestBaseOfAnotherSize(t *testing.T) {
	dir := t.TempDir()
	d := recording.Disk{Log: dir + "/log", Base: dir + "/base", Size: diskSize}
	if err := os.WriteFile(d.Base, make([]byte, 4096), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := recording.Create(recording.Config{Disks: []recording.Disk{d}})
	if err == nil || !strings.Contains(err.Error(), "it is no copy") {
		t.Errorf("got %v", err)
	}
}

// TestFailureDoesNotTouchTheGuest checks that writes succeed when the next segment cannot be made,
// and that the failure is reported once.
func TestFailureDoesNotTouchTheGuest(t *testing.T) {
	r := newRig(t, recording.Limits{Bytes: 2 << 20}, false)
	r.write(r.cfg.Disks[1].Log+".000001", nil) // in the way
	r.work(3000)
	if err := <-r.failed; !strings.Contains(err.Error(), "exists already") {
		t.Errorf("failed with %v", err)
	}
	if s := r.rec.Status(); s.Error == "" || r.rec.Err() == nil {
		t.Errorf("%+v", s)
	}
	if err := r.rec.Close(); err != nil || len(r.failed) > 0 {
		t.Errorf("the failure was reported before, but Close says %v", err)
	}
}
