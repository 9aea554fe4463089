package daemon

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap/zaptest"

	"fsward/blocktap"
	"fsward/change"
	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
	"fsward/interp/detect"
)

// TestCalls checks that a sync of the guest is an event if it returns before earlier writes were
// flushed, and none if they were flushed or are copies of a superblock of Btrfs.
func TestCalls(t *testing.T) {
	const free, copyOfSuper = 100 << 20, 64 << 20
	for _, c := range []struct {
		fs    string
		off   uint64
		early bool
	}{{"ext3", free, true}, {"btrfs", free, true}, {"btrfs", copyOfSuper, false}} {
		t.Run(fmt.Sprint(c.fs, " ", c.off), func(t *testing.T) {
			seen := &guardtest.Recorder{}
			d, err := Open(Config{Calls: true, Config: guard.Config{FS: detect.Auto,
				Policies: guard.Policies{OnViolation: guard.OnRefuse}, Sinks: []guard.Sink{seen},
				Disks: []guard.DiskSpec{{Name: "root", Path: guardtest.Mkfs(t, c.fs, 128<<20)}}}},
				zaptest.NewLogger(t))
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			l, err := net.Listen("unix", filepath.Join(t.TempDir(), "calls"))
			if err != nil {
				t.Fatal(err)
			}
			served := make(chan error, 1)
			go func() { served <- d.ServeCallsOn(ctx, l) }()
			guest, err := net.Dial("unix", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			syncTwice(ctx, t, guest, d.Device("root"), c.off)
			stop()
			if err := <-served; err != nil {
				t.Error(err)
			}
			early, note := earlySyncs(t, seen.Events(), c.fs, c.off)
			want, outcome := 0, change.Holds
			if c.early {
				want, outcome = 1, change.Violated
			}
			wantNote := fmt.Sprintf(
				"calls of the guest: 2 were checked, %d of them returned too early", want)
			if early != want || d.Outcome() != outcome || note != wantNote {
				t.Errorf("%d calls came too early, want %d; %v; %q", early, want, d.Outcome(), note)
			}
		})
	}
}

// syncTwice is a guest that writes a block at off and syncs before and after a flush. The block
// keeps its content.
func syncTwice(ctx context.Context, t *testing.T, guest net.Conn, device *blocktap.Device,
	off uint64) {
	t.Helper()
	lines, booted := bufio.NewScanner(guest), time.Now()
	clock := func() int64 { return time.Since(booted).Nanoseconds() }
	fmt.Fprint(guest, "fswcalls 1\ndisk 254,0 root\n")
	pong := func() {
		var n int
		if _, err := fmt.Sscanf(next(t, lines), "ping %d", &n); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(guest, "pong %d %d\n", n, clock())
	}
	sync := func() {
		time.Sleep(300 * time.Millisecond) // far more than a ping takes
		began := clock()
		time.Sleep(time.Millisecond)
		fmt.Fprintf(guest, "call sync 12 %d %d 254,0\n", began, clock())
		pong()
		pong() // the first call is checked by then
	}
	pong()
	block := make([]byte, 4096)
	if _, err := device.Disk().ReadAt(block, int64(off)); err != nil {
		t.Fatal(err)
	}
	if err := device.Do(ctx, &blocktap.Request{Op: blocktap.OpWrite, Off: off,
		Len: uint64(len(block)), Data: block}); err != nil {
		t.Fatal(err)
	}
	sync()
	if err := device.Do(ctx, &blocktap.Request{Op: blocktap.OpFlush}); err != nil {
		t.Fatal(err)
	}
	sync()
}

// earlySyncs returns the number of events of calls that came too early, and the note about all
// calls. It checks that each such event is of the sync before which the block at off was not
// flushed.
func earlySyncs(t *testing.T, events []*guard.Event, fs string, off uint64) (
	early int, note string) {
	t.Helper()
	for _, ev := range events {
		if ev.Kind == guard.KindCall {
			early++
			if v := ev.Violations[0]; ev.Disk != "root" || ev.FS != fs || v.Addr != off ||
				v.Rule != "calls/sync" ||
				!strings.Contains(guardtest.TextOf(ev), "sync of thread 12 returned after ") {
				t.Errorf("%s", guardtest.TextOf(ev))
			}
		}
		if strings.HasPrefix(ev.Note, "calls") {
			note = ev.Note
		}
	}
	return early, note
}

func next(t *testing.T, lines *bufio.Scanner) string {
	t.Helper()
	if !lines.Scan() {
		t.Fatal("no line", lines.Err())
	}
	return lines.Text()
}
