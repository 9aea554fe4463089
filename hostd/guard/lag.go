package guard

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"fsward/blocktap"
	"fsward/change"
	"fsward/interp"
)

// DefaultLagTimeout lets Linux write back what a program has left in the page cache of another
// disk: after 30 s (vm.dirty_expire_centisecs), looked for every 5 s.
const DefaultLagTimeout = 45 * time.Second

const (
	lagTick = 100 * time.Millisecond // between two looks at the disks that lag
	// lagQuiet is how long the guest does not write to a disk that lags before the guard flushes it
	// and judges the commit again.
	lagQuiet = time.Second
	// maxLate bounds the commits that wait at one disk: one for each copy of the superblock.
	maxLate = 3
)

// lateCommits are the commits whose superblocks wait at one disk. Except for the counters and now,
// the lock of the devices guards them.
type lateCommits struct {
	timeout time.Duration              // of each; 0: none waits
	flush   func() error               // flushes the disk through its device
	writes  atomic.Uint64              // writes to the disk that were handled
	own     atomic.Int64               // flushes of the disk that the guest has not asked for
	now     atomic.Pointer[lateCommit] // the first that waits; nil: none does
	count   int                        // commits that wait
	note    string                     // about the wait of the write that is handled next
}

// A lateCommit is a commit that waits for disks that lag: see interp.Lagger.
type lateCommit struct {
	volume     *guardedVolume // of its superblock; may be nil
	generation uint64
	disks      []*laggingDisk
	since      time.Time
	until      time.Time
}

// A laggingDisk is a disk that a commit waits for.
type laggingDisk struct {
	*Guard
	before  int64 // guestFlushes when the wait began
	flushed bool  // the guest has flushed it since
	writes  uint64
	changed time.Time // when writes changed
	fresh   bool      // the commit was not judged since
	written bool      // writes has changed since the wait began
}

// Delay lets a commit wait that is unsound while another disk of its file system lags. It returns
// when the commit is sound, when the guest has flushed these disks, after the timeout, and when ctx
// ends. Handle then judges the commit as any other.
func (g *Guard) Delay(ctx context.Context, r *blocktap.Request, meanwhile func(f func())) {
	l := &g.late
	l.note = ""
	if l.timeout == 0 || len(g.peers) < 2 || r.Op != blocktap.OpWrite || l.count >= maxLate {
		return
	}
	disks := g.lagging(r)
	if len(disks) == 0 {
		return
	}
	found := g.try(r)
	if !found.unsound {
		return
	}
	c := g.newLateCommit(disks, found)
	l.count++
	if l.now.CompareAndSwap(nil, c) {
		g.reportLate(c)
	}
	for found.unsound && c.lags() && ctx.Err() == nil && time.Now().Before(c.until) {
		meanwhile(func() { c.wait(ctx) })
		found = g.try(r)
	}
	l.count--
	l.now.CompareAndSwap(c, nil)
	l.note = c.note(found.unsound)
}

// lagging returns the disks that lag if the request is a commit.
func (g *Guard) lagging(r *blocktap.Request) []int {
	lagger, ok := g.interp.(interp.Lagger)
	if !ok {
		return nil
	}
	for _, p := range g.peers {
		p.reportFlushed()
	}
	return lagger.Lagging(g.writeOf(r))
}

// A tried is what a trial of a commit has shown. The records of the trial, which may fill the
// memory of a disk, are given up: other writes are judged while the commit waits.
type tried struct {
	unsound    bool // the commit leads to blocks that are not sound
	generation uint64
	volume     int
}

// try judges the structure of a commit as it is now, without a trace.
func (g *Guard) try(r *blocktap.Request) tried {
	for _, p := range g.peers {
		p.reportFlushed()
	}
	w := g.writeOf(r)
	w.Trial = true
	volume, _ := g.locate(w.Off)
	g.judging.setVolume(volume)
	obs := g.interp.Observe(w)
	g.work.Current().End()
	g.interp.Settle(false)
	return tried{unsound: obs.Point == interp.CommitPoint && len(obs.Violations) > 0,
		generation: obs.Generation, volume: obs.Volume}
}

func (g *Guard) newLateCommit(disks []int, found tried) *lateCommit {
	now := time.Now()
	c := &lateCommit{generation: found.generation, since: now, until: now.Add(g.late.timeout),
		volume: g.volumes.at(found.volume)}
	for _, i := range disks {
		p := g.peers[i]
		c.disks = append(c.disks, &laggingDisk{Guard: p, before: p.guestFlushes(),
			writes: p.late.writes.Load(), changed: now, fresh: true})
	}
	return c
}

// reportLate reports that a commit waits.
func (g *Guard) reportLate(c *lateCommit) {
	ev := &Event{Kind: KindWaiting, Disk: g.name, FS: g.interp.FS(), Generation: c.generation,
		Outcome: change.Holds, Note: fmt.Sprintf("commit %d waits up to %v for %s, "+
			"which the guest has not flushed since the last commit; sync in the guest hastens it",
			c.generation, g.late.timeout, c.names())}
	if c.volume != nil {
		ev.Volume = c.volume.path()
	}
	g.report(c.volume, ev)
}

// wait returns when the commit should be judged again, and at its end.
func (c *lateCommit) wait(ctx context.Context) {
	tick := time.NewTicker(lagTick)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			if c.look(now) || !now.Before(c.until) {
				return
			}
		}
	}
}

// look reports whether the commit should be judged again: the guest has flushed a disk that lags,
// or has written to it and stopped. In the second case it flushes the disk itself.
func (c *lateCommit) look(now time.Time) bool {
	flushed, quiet, fresh := false, true, false
	for _, d := range c.disks {
		if !d.flushed && d.guestFlushes() > d.before {
			d.flushed, flushed = true, true
		}
		if n := d.late.writes.Load(); n != d.writes {
			d.writes, d.changed, d.fresh, d.written = n, now, true, true
		}
		quiet = quiet && now.Sub(d.changed) >= lagQuiet
		fresh = fresh || d.fresh
	}
	if !flushed && (!quiet || !fresh) {
		return false
	}
	for _, d := range c.disks {
		if d.fresh && !flushed {
			d.flushDisk()
		}
		d.fresh = false
	}
	return true
}

// guestFlushes returns the number of flushes that the guest has asked for. While the guard flushes
// the disk, it may be one too low.
func (g *Guard) guestFlushes() int64 { return g.flushes.Load() - g.late.own.Load() }

// flushDisk flushes the disk in place of the guest. The flush is recorded, so that a replay of the
// recording judges alike.
func (g *Guard) flushDisk() {
	g.late.own.Add(1)
	if err := g.late.flush(); err != nil {
		g.late.own.Add(-1)
		g.log.Warn("cannot flush a disk that a commit waits for", zap.String("disk", g.name),
			zap.Error(err))
	}
}

// lags reports whether the guest has not yet flushed one of the disks.
func (c *lateCommit) lags() bool {
	return slices.ContainsFunc(c.disks, func(d *laggingDisk) bool { return !d.flushed })
}

// names lists the disks: "disk a", "disks a, c".
func (c *lateCommit) names() string {
	return diskNames(c.disks)
}

func diskNames(disks []*laggingDisk) string {
	var names []string
	for _, d := range disks {
		names = append(names, d.name)
	}
	if len(names) == 1 {
		return "disk " + names[0]
	}
	return "disks " + strings.Join(names, ", ")
}

// note says in the report of the commit how it has waited.
func (c *lateCommit) note(unsound bool) string {
	text := fmt.Sprintf("it has waited %v for %s",
		time.Since(c.since).Round(lagTick), c.names())
	if !unsound || !c.lags() {
		return text
	}
	absent := slices.DeleteFunc(slices.Clone(c.disks), func(d *laggingDisk) bool { return d.written })
	if len(absent) == 0 {
		return text + ", whose blocks have not all come"
	}
	return fmt.Sprintf("%s; the guest has not written to %s: it has mounted the array degraded, or "+
		"a program has not written back its pages", text, diskNames(absent))
}
