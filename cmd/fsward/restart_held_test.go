package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"fsward/hostd/daemon"
	"fsward/hostd/guardtest"
)

// heldRule makes a test hold a commit.
const heldRule = `% Rule 99. No inode belongs to user 4242.
% Source: a test.
% For the user: nothing.
violation(99, inode, I) :- default_zero(inode, I, uid, _, 4242).
`

// heldLoad makes two commits, of which the second one breaks heldRule.
const heldLoad = `echo one > one; sync -f .
echo two > two; chown 4242 two; sync -f .
echo three > three; sync -f .
`

// TestRestartWhileACommitIsHeld kills the guard while a commit is being judged, which a policy
// makes last. The guest knows nothing of it: the commit comes again, is judged again, and then
// passes or is refused.
func TestRestartWhileACommitIsHeld(t *testing.T) {
	if os.Getuid() != 0 {
		t.Fatal("loop mounts need root: run the tests as root")
	}
	rules := t.TempDir()
	run(t, "sh", "-ec", `cd ../../invariants; cp -r btrfs ext3 volume "$0"`, rules)
	if err := os.WriteFile(filepath.Join(rules, "ext3/held.pl"), []byte(heldRule), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		decision string
		pass     bool
	}{{"resume", true}, {"reject", false}} {
		t.Run(c.decision, func(t *testing.T) {
			dir := t.TempDir()
			image, guard := filepath.Join(dir, "image"), filepath.Join(dir, "guard.sock")
			run(t, "truncate", "-s", "256M", image)
			run(t, "mkfs.ext3", "-qF", image)
			socket := filepath.Join(dir, "control")
			r := guardtest.StartRestarted(t, "fsward", 0, "--disk", "vda="+image, "--listen",
				"unix:"+guard, "--rules", rules, "--on-violation", "pause", "--control", "unix:"+socket)
			proxy, at := startProxy(t, dir, guard)
			m := mountProxied(t, "ext3", at)
			control := daemon.NewControl(socket)
			loaded := make(chan error, 1)
			go func() {
				_, err := m.Run(t.Context(), heldLoad)
				loaded <- err
			}()
			waitHeld(t, control, loaded)
			r.Kill()
			waitHeld(t, control, loaded)
			stop := decideAll(control, c.pass)
			if err := <-loaded; (err == nil) != c.pass {
				t.Errorf("the guest's syncs after %s: %v", c.decision, err)
			}
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
			stop()
			_ = proxy.Process.Signal(syscall.SIGTERM)
			_ = proxy.Wait()
			if !c.pass {
				run(t, "e2fsck", "-p", "-E", "journal_only", image)
			}
			guardtest.MustBeClean(t, "ext3", image)
			heldFiles(t, image, c.pass)
		})
	}
}

// waitHeld waits until the guard holds a commit. The guest must wait for it.
func waitHeld(t *testing.T, control *daemon.Control, loaded <-chan error) {
	t.Helper()
	for range 2000 {
		if disks, err := control.Status(); err == nil && len(disks) == 1 && disks[0].Held != "" {
			return
		}
		select {
		case err := <-loaded:
			t.Fatalf("the guest did not wait: %v", err)
		case <-time.After(10 * time.Millisecond):
		}
	}
	t.Fatal("no commit is held")
}

// decideAll decides about every commit that is held until the returned function is called: a commit
// that is rejected can come again.
func decideAll(control *daemon.Control, pass bool) (stop func()) {
	stopping, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			_ = control.Release("vda", pass) // most often nothing is held
			select {
			case <-stopping:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
	return func() { close(stopping); <-stopped }
}

// heldFiles checks, without a guard, which files of heldLoad are on an image.
func heldFiles(t *testing.T, image string, all bool) {
	t.Helper()
	at := t.TempDir()
	run(t, "mount", "-t", "ext3", "-o", "loop,ro", image, at)
	defer run(t, "umount", at)
	for name, want := range map[string]bool{"one": true, "two": all, "three": all} {
		text, err := os.ReadFile(filepath.Join(at, name))
		if want && string(text) != name+"\n" || !want && !os.IsNotExist(err) {
			t.Errorf("%s holds %q, %v; want it there: %t", name, text, err, want)
		}
	}
}
