package daemon

import (
	"context"
	"fmt"
	"net"

	"fsward/blocktap/nbd"
	"fsward/change"
	"fsward/hostd/daemon/fsynccheck"
	"fsward/hostd/guard"
	"fsward/interp/btrfs"
)

// ServeCalls reads the calls of the guest, which fswcalls sends to a socket, until ctx ends. Each
// call that returned before its promise was durable is an event. It needs Config.Calls.
func (d *Daemon) ServeCalls(ctx context.Context, path string) error {
	l, err := nbd.Listen(path)
	if err != nil {
		return fmt.Errorf("socket for the guest's calls: %w", err)
	}
	return d.ServeCallsOn(ctx, l)
}

// ServeCallsOn is ServeCalls with a listener.
func (d *Daemon) ServeCallsOn(ctx context.Context, l net.Listener) error {
	host := fsynccheck.Host{Log: d.log, OnEnd: d.callsEnded}
	early := make(map[earlyKind]uint64)
	host.OnEarly = func(e *fsynccheck.Early) { d.tooEarly(e, early) }
	for i, name := range d.Names() {
		fs := func() string { return d.FS(name) }
		host.Disks = append(host.Disks, fsynccheck.Disk{Name: name, Diary: d.diaries[i], FS: fs,
			Spare: func(off, n uint64) bool { return fs() == "btrfs" && btrfs.IsSuperCopy(off, n) }})
	}
	return host.Serve(ctx, l)
}

type earlyKind struct{ disk, call string }

// tooEarly reports a call that came too early. If a stack loses flushes, every call is too early:
// after the first eight of a kind, only calls whose number is a power of two are reported.
func (d *Daemon) tooEarly(e *fsynccheck.Early, count map[earlyKind]uint64) {
	kind := earlyKind{e.Disk, e.Call.Name}
	count[kind]++
	if n := count[kind]; n > 8 && n&(n-1) != 0 {
		return
	}
	violation := change.Violation{
		Rule:    "calls/" + e.Call.Name,
		Kind:    change.ByCall,
		Doc:     "A call that promised durability returned before its writes were durable.",
		Detail:  fmt.Sprintf("%s; number %d of its kind", e, count[kind]),
		Addr:    e.Off,
		HasAddr: true,
	}
	d.Report(e.Disk, &guard.Event{
		Disk:       e.Disk,
		FS:         d.FS(e.Disk),
		Kind:       guard.KindCall,
		Outcome:    change.Violated,
		Violations: []change.Violation{violation},
	})
}

// callsEnded reports how many calls of a guest were checked.
func (d *Daemon) callsEnded(s fsynccheck.Sum) {
	note := fmt.Sprintf("calls of the guest: %d were checked, %d of them returned too early",
		s.Judged, s.Early)
	if s.Open > 0 {
		note += fmt.Sprintf("; of %d it is not known", s.Open)
	}
	for _, sink := range d.sinks {
		sink.Event(&guard.Event{Kind: guard.KindNote, Outcome: change.Holds, Note: note})
	}
}
