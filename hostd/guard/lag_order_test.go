package guard_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap/zaptest"

	"fsward/blocktap"
	"fsward/blocktap/trace"
	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
	"fsward/hostd/offline"
	"fsward/interp/btrfs/ondisk"
	"fsward/interp/detect"
)

// A sent is a request that a guest sends to one of its disks.
type sent struct {
	disk int
	blocktap.Request
}

// superblock returns the generation of the superblock that the request writes, or of its mirror: a
// loop device can perform the mirror's write first. 0 if it writes none.
func (s *sent) superblock() uint64 {
	if s.Op != blocktap.OpWrite || !slices.Contains(ondisk.SuperOffsets[:], s.Off) {
		return 0
	}
	return binary.LittleEndian.Uint64(s.Data[72:])
}

// A lateRig is the last commit of a kernel to two disks with metadata in RAID1, and a guard of the
// disks as they were before it.
type lateRig struct {
	t     *testing.T
	cfg   guard.Config
	disks *guard.Disks
	seen  guardtest.Recorder
	// requests of the last commit; the superblocks begin at super
	requests []sent
	super    int
}

// newLateRig records commits, opens the guard, and sends all requests before the last commit.
func newLateRig(t *testing.T, timeout time.Duration) *lateRig {
	t.Helper()
	recorded := guardtest.RecordDisks(t, filledDisks(t, "raid1"), guardtest.Filled+"rm f1; sync -f .")
	r := &lateRig{t: t}
	r.cfg = guard.Config{FS: detect.Auto, Policies: guard.Policies{OnViolation: guard.OnRefuse},
		LagTimeout: timeout, Sinks: []guard.Sink{&r.seen}}
	for _, d := range recorded.Disks {
		r.cfg.Disks = append(r.cfg.Disks, guard.DiskSpec{Name: d.Name, Path: d.Base})
	}
	r.open()
	t.Cleanup(func() { _ = r.disks.Close() })
	all := requestsOf(t, recorded.Disks)
	last := uint64(0)
	for _, s := range all {
		last = max(last, s.superblock())
	}
	begin := 0 // after the superblocks of the commit before
	for i, s := range all {
		switch {
		case s.superblock() == last:
			r.requests, r.super = all[begin:], i-begin
			for _, s := range all[:begin] {
				if err := r.send(&s); err != nil {
					t.Fatal(err)
				}
			}
			return r
		case s.superblock() > 0:
			begin = i + 1
		}
	}
	t.Fatal("no commit was recorded")
	return nil
}

func (r *lateRig) open() {
	r.t.Helper()
	var err error
	if r.disks, err = guard.Open(r.cfg, zaptest.NewLogger(r.t)); err != nil {
		r.t.Fatal(err)
	}
}

// requestsOf reads the logs of the disks of one guest.
func requestsOf(t *testing.T, disks []offline.ReplayDisk) (all []sent) {
	t.Helper()
	var readers []*trace.Reader
	for _, d := range disks {
		log, err := trace.Open(d.Log)
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		readers = append(readers, log.Reader)
	}
	merged, err := trace.Merge(readers...)
	if err != nil {
		t.Fatal(err)
	}
	for {
		i, e, err := merged.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if r, ok := e.Request(); ok {
			r.Data = append([]byte(nil), r.Data...)
			all = append(all, sent{i, r})
		}
	}
}

func (r *lateRig) send(s *sent) error {
	request := s.Request
	return r.disks.Device(r.disks.Names()[s.disk]).Do(context.Background(), &request)
}

// sendUpTo sends the requests before the superblocks, without those that without matches, and
// returns these.
func (r *lateRig) sendUpTo(without func(i int, s *sent) bool) (kept []sent) {
	r.t.Helper()
	for i := range r.requests[:r.super] {
		s := &r.requests[i]
		if without(i, s) {
			kept = append(kept, *s)
			continue
		}
		if err := r.send(s); err != nil {
			r.t.Fatal(err)
		}
	}
	return kept
}

// waiting returns the number of commits that are said to wait.
func (r *lateRig) waiting() (n int) {
	for _, ev := range r.seen.Events() {
		if ev.Kind == guard.KindWaiting {
			n++
		}
	}
	return n
}

// await waits until so many commits are said to wait.
func (r *lateRig) await(n int) {
	r.t.Helper()
	for range 1000 {
		if r.waiting() >= n {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	r.t.Fatal("no commit waits")
}

// TestDroppedCopyIsRefusedAtOnce loses a block that the kernel has written to the other disk. The
// kernel has flushed that disk, so that the block does not come any more.
func TestDroppedCopyIsRefusedAtOnce(t *testing.T) {
	r := newLateRig(t, time.Hour)
	super := &r.requests[r.super]
	lost := -1
	for i, s := range r.requests[:r.super] {
		if s.Op == blocktap.OpWrite && s.disk != super.disk && len(s.Data) >= 16384 {
			lost = i
		}
	}
	r.sendUpTo(func(i int, _ *sent) bool { return i == lost })
	if err := r.send(super); !errors.Is(err, blocktap.ErrRefused) || r.waiting() > 0 {
		t.Errorf("the commit: %v; %d commits wait", err, r.waiting())
	}
}

// lateSuperblock sends everything but the requests to the other disk. It returns the superblock
// that comes first, and those requests.
func (r *lateRig) lateSuperblock() (super *sent, kept []sent) {
	r.t.Helper()
	super = &r.requests[r.super]
	return super, r.sendUpTo(func(_ int, s *sent) bool { return s.disk != super.disk })
}

// TestBlocksComeLate sends the blocks of the other disk after the superblock, without a flush. The
// guard flushes that disk, and the commit holds. Before that, the guard ends while the commit
// waits, and starts again: the commit is not performed, and comes again.
func TestBlocksComeLate(t *testing.T) {
	r := newLateRig(t, time.Hour)
	super, kept := r.lateSuperblock()
	cut := r.sendCut(super, 1)
	if err := <-cut; !errors.Is(err, context.Canceled) {
		t.Errorf("a commit whose connection was cut: %v", err)
	}
	if err := r.disks.Close(); err != nil {
		t.Fatal(err)
	}
	r.open()
	done := make(chan error)
	go func() { done <- r.send(super) }()
	r.await(2)
	if status := r.disks.Status()[super.disk]; status.Late == nil {
		t.Errorf("no commit waits in the status: %+v", status)
	}
	for _, s := range kept {
		if s.Op != blocktap.OpFlush {
			if err := r.send(&s); err != nil {
				t.Error(err)
			}
		}
	}
	if err := <-done; err != nil {
		t.Errorf("the commit: %v", err)
	}
	if status := r.disks.Status()[super.disk]; status.Late != nil {
		t.Errorf("a commit still waits in the status: %+v", status.Late)
	}
}

// TestCommitWaitsInVain never sends the blocks of the other disk: the commit is refused after the
// timeout, and a further copy of its superblock at once.
func TestCommitWaitsInVain(t *testing.T) {
	const timeout = 1500 * time.Millisecond
	r := newLateRig(t, timeout)
	super, _ := r.lateSuperblock()
	start := time.Now()
	err := r.send(super)
	if took := time.Since(start); !errors.Is(err, blocktap.ErrRefused) || took < timeout {
		t.Errorf("after %v: %v", took, err)
	}
	if err := r.send(super); !errors.Is(err, blocktap.ErrRefused) || r.waiting() != 1 {
		t.Errorf("a further copy: %v; %d commits wait", err, r.waiting())
	}
	for _, ev := range r.seen.Events() {
		text := guardtest.TextOf(ev)
		if ev.Action == guard.Refused && !ev.Repeats &&
			!strings.Contains(text, "the guest has not written to disk") {
			t.Errorf("refused: %s", text)
		}
	}
}

// TestFewCommitsWait sends a late superblock many times at once: as many wait as a superblock has
// copies, and the others are judged at once.
func TestFewCommitsWait(t *testing.T) {
	r := newLateRig(t, time.Hour)
	super, _ := r.lateSuperblock()
	refused := 0
	results := r.sendCut(super, 20)
	for range cap(results) {
		switch err := <-results; {
		case errors.Is(err, blocktap.ErrRefused):
			refused++
		case !errors.Is(err, context.Canceled):
			t.Error(err)
		}
	}
	if refused < 17 {
		t.Errorf("%d of 20 were judged at once", refused)
	}
}

// sendCut sends a request several times at once. Once one of them waits and none is judged any
// more, it cuts the connection. It returns the errors.
func (r *lateRig) sendCut(s *sent, times int) chan error {
	r.t.Helper()
	ctx, cut := context.WithCancel(r.t.Context())
	defer cut()
	results := make(chan error, times)
	for range times {
		request := s.Request
		go func() { results <- r.disks.Device(r.disks.Names()[s.disk]).Do(ctx, &request) }()
	}
	r.await(1)
	time.Sleep(500 * time.Millisecond)
	return results
}
