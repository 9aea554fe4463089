package daemon

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap/zaptest"

	"fsward/change"
	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
)

// TestPauseOnARealFileSystem holds a commit on a real file system: the guest is suspended, the
// control socket reports the held write, and the operator's decision takes effect.
func TestPauseOnARealFileSystem(t *testing.T) {
	for _, tc := range []struct {
		fs, bug string
		pass    bool
	}{
		{"btrfs", "inode_item.nlink+1@mode=0o100644", false},
		{"btrfs", "inode_item.nlink+1@mode=0o100644", true},
		{"ext3", "inode.links_count+1", false},
	} {
		decision := map[bool]string{true: "resumed", false: "rejected"}[tc.pass]
		t.Run(tc.fs+" "+decision, func(t *testing.T) {
			guest := &guardtest.Domain{}
			r := guardtest.Attach(t, guardtest.Mkfs(t, tc.fs, 256<<20),
				func(c *guard.Config) { c.OnViolation, c.Guest = guard.OnPause, guest })
			control := openControl(t, r.Daemon)
			releaseNothing(t, control)
			r.MustMount(tc.fs)
			r.MustRun("echo one > one; sync -f .")
			if err := r.Daemon.Simulator("disk").Arm(tc.bug); err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() {
				const script = "echo two > two; sync -f .; echo three > three; sync -f ."
				_, err := r.Run(context.Background(), script)
				done <- err
			}()
			held := waitStatus(t, control)
			if !strings.Contains(held.Held, "violated") || guest.Suspended != 1 {
				t.Errorf("held %q, suspended %d times", held.Held, guest.Suspended)
			}
			select {
			case err := <-done:
				t.Fatalf("the sync ended while its commit was held: %v", err)
			case <-time.After(200 * time.Millisecond):
			}
			if err := control.Release("disk", tc.pass); err != nil {
				t.Fatal(err)
			}
			// A rejected commit comes again, as a copy of a superblock for instance, and is held again.
			stop := rejectAll(control, tc.pass)
			if err := <-done; (err == nil) != tc.pass {
				t.Errorf("the sync ended with %v", err)
			}
			stop()
			if guest.Resumed == 0 {
				t.Error("the guest was not resumed")
			}
			if err := r.Unmount(); err != nil {
				t.Fatal(err)
			}
			r.End()
			decided(t, r.Seen.Events(), tc.pass)
			if !tc.pass {
				guardtest.RecoverImage(t, tc.fs, r.Image)
				guardtest.MustBeClean(t, tc.fs, r.Image)
			}
		})
	}
}

// releaseNothing checks the errors of a decision while no write is held, and of one about a disk
// that does not exist.
func releaseNothing(t *testing.T, control *Control) {
	t.Helper()
	if err := control.Release("disk", true); err == nil ||
		!strings.Contains(err.Error(), guard.ErrNotHeld.Error()) {
		t.Errorf("resume while nothing is held: %v", err)
	}
	if err := control.Release("nodisk", true); err == nil ||
		!strings.Contains(err.Error(), "this daemon guards disk") {
		t.Errorf("resume of a disk that is not there: %v", err)
	}
}

// decided checks that the operator's decision was applied to every violated commit.
func decided(t *testing.T, events []*guard.Event, pass bool) {
	t.Helper()
	want := map[bool]string{true: guard.Passed, false: guard.Refused}[pass]
	for _, ev := range events {
		if ev.Outcome == change.Violated && ev.Action != want {
			t.Errorf("decided otherwise: %s", guardtest.TextOf(ev))
		}
	}
}

// openControl serves a daemon's control socket during the test.
func openControl(t *testing.T, disks *guard.Disks) *Control {
	d := &Daemon{Disks: disks, log: zaptest.NewLogger(t)}
	t.Helper()
	dir, err := os.MkdirTemp("", "fsward-ctl-")
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "ctl")
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.ServeControl(ctx, socket) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	control := NewControl(socket)
	for range 500 {
		if _, err := control.Status(); err == nil { // the socket's name exists before it listens
			return control
		}
		time.Sleep(2 * time.Millisecond)
	}
	t.Fatal("the control socket did not come up")
	return nil
}

// waitStatus waits until the daemon reports a held write.
func waitStatus(t *testing.T, control *Control) guard.VolumeStatus {
	t.Helper()
	for range 1000 {
		disks, err := control.Status()
		if err != nil {
			t.Fatal(err)
		}
		if len(disks) == 1 && disks[0].Held != "" {
			return disks[0]
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal("nothing was held within five seconds")
	return guard.VolumeStatus{}
}

// rejectAll decides every write that is held until the returned function is called.
func rejectAll(control *Control, pass bool) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			if err := control.Release("disk", pass); err != nil && !errors.Is(err, context.Canceled) {
				time.Sleep(10 * time.Millisecond)
			}
		}
	}()
	return func() { cancel(); <-ended }
}
