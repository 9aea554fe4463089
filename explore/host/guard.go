package host

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"fsward/blocktap"
	"fsward/blocktap/overlay"
	"fsward/change"
	"fsward/explore"
	"fsward/explore/ramdisk"
	"fsward/hostd/guard"
	"fsward/interp"
	"fsward/interp/detect"
)

// A Guard guards the disks of an explored stack. It is an explore.Guard. It keeps copies of the
// disks, and sends each bio of the machine through the pipeline of hostd/guard. Only allowed bios
// change the copies.
type Guard struct {
	Log   *zap.Logger
	Rules guard.RulesConfig

	rules *guard.Rules // loaded once
}

// Begin makes the copies and reads the file systems on them as the baseline.
func (x *Guard) Begin(disks []explore.GuardedDisk) (explore.GuardSession, error) {
	if x.rules == nil {
		var err error
		if x.rules, err = x.Rules.Load(); err != nil {
			return nil, err
		}
	}
	g := &session{}
	if err := g.begin(x, disks); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// A session is an explore.GuardSession.
type session struct {
	copies   []*overlay.Disk
	pipeline *guard.Pipeline // nil until the baseline was read
	first    firstRefusal
}

// begin makes the copies, and the pipeline that guards them.
func (g *session) begin(x *Guard, guarded []explore.GuardedDisk) error {
	var disks []blocktap.Disk
	var parts []interp.Disk
	for _, d := range guarded {
		disk, err := overlay.New(d.Base)
		if err != nil {
			return err
		}
		g.copies = append(g.copies, disk)
		disks, parts = append(disks, disk), append(parts, disk)
	}
	set, err := interp.NewSet(parts...)
	if err != nil {
		return err
	}
	follower, err := guard.Follow(set, detect.Auto, interp.Limits{},
		func(i int) string { return guarded[i].Name })
	if err != nil {
		return err
	}
	var names []string
	if len(guarded) > 1 { // a single disk needs no name
		for _, d := range guarded {
			names = append(names, d.Name)
		}
	}
	g.pipeline = guard.NewPipeline(guard.PipelineConfig{Disks: disks, Names: names,
		Interpreter: follower, Rules: x.rules, Policy: guard.RefusePolicy{},
		Sinks: []guard.Sink{&g.first}}, x.Log)
	return nil
}

// Allow performs a bio on the copy of disk i, and returns the error number if it fails or is
// refused. A write whose data the log lacks is EIO.
func (g *session) Allow(i int, bio *ramdisk.Record) unix.Errno {
	if bio.Op == ramdisk.Write && uint64(len(bio.Data)) != bio.Len {
		return unix.EIO // the log lacks the data of the write
	}
	whole := *bio
	whole.Done = bio.Len
	for _, r := range whole.Requests() {
		if err := g.pipeline.Devices[i].Do(context.Background(), &r); err != nil {
			return blocktap.Errno(err)
		}
	}
	return 0
}

// Refused returns the first refusal.
func (g *session) Refused() *explore.Failure {
	g.first.mu.Lock()
	defer g.first.mu.Unlock()
	return g.first.found
}

// Close removes the copies.
func (g *session) Close() error {
	if g.pipeline != nil {
		g.pipeline.Close()
	}
	var err error
	for _, disk := range slices.Backward(g.copies) {
		err = errors.Join(err, disk.Close())
	}
	return err
}

// firstRefusal is a Sink that keeps the first event of a refused write.
type firstRefusal struct {
	mu    sync.Mutex
	found *explore.Failure
}

// Event keeps the event if it is the first refusal.
func (f *firstRefusal) Event(ev *guard.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.found != nil || ev.Action != guard.Refused {
		return
	}
	kind := "undecided"
	if ev.Outcome == change.Violated && len(ev.Violations) > 0 {
		kind = ev.Violations[0].Rule
	}
	var text strings.Builder
	guard.NewTextReport(&text).Event(ev)
	f.found = &explore.Failure{Kind: "refused: " + kind, Text: text.String()}
}
