package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestStaleMount kills a guard that has its disk mounted by FUSE, and starts another one at the
// same directory, which no process has cleaned up. A guard that still runs keeps its directory.
func TestStaleMount(t *testing.T) {
	if os.Getuid() != 0 {
		t.Fatal("mounts need root: run the tests as root")
	}
	top := t.TempDir()
	image, other := filepath.Join(top, "a.img"), filepath.Join(top, "b.img")
	run(t, "truncate", "-s", "64M", image, other)
	if err := os.Symlink("dir", filepath.Join(top, "link")); err != nil {
		t.Fatal(err)
	}
	killed := serveFUSE(t, filepath.Join(top, "dir"), image)
	_ = killed.cmd.Process.Kill()
	_ = killed.cmd.Wait()
	again := serveFUSE(t, filepath.Join(top, "link"), image)
	run(t, "dd", "if="+filepath.Join(top, "dir/disk"), "of=/dev/null", "bs=1M", "count=1")

	var log bytes.Buffer
	second := exec.Command("fsward", "guard", "--disk", other, "--transport", "fuse", "--listen",
		filepath.Join(top, "dir"))
	second.Stderr = &log
	if err := second.Run(); err == nil || !strings.Contains(log.String(), "is served by fsward") {
		t.Errorf("a second guard at the same directory: %v, %s", err, &log)
	}
	run(t, "dd", "if="+filepath.Join(top, "dir/disk"), "of=/dev/null", "bs=1M", "count=1")
	again.stop(t, syscall.SIGTERM)
	if mounts, err := os.ReadFile("/proc/mounts"); err != nil || bytes.Contains(mounts, []byte(top)) {
		t.Errorf("a mount is left: %v\n%s", err, mounts)
	}
}

// TestKilledWhileItMounts kills guards at the moment at which their mounts appear. Each ends: a
// process that uses its own mount could wait for itself for ever.
func TestKilledWhileItMounts(t *testing.T) {
	if os.Getuid() != 0 {
		t.Fatal("mounts need root: run the tests as root")
	}
	top := t.TempDir()
	image, dir := filepath.Join(top, "a.img"), filepath.Join(top, "dir")
	run(t, "truncate", "-s", "64M", image)
	for range 20 {
		cmd := exec.Command("fsward", "guard", "--disk", image, "--transport", "fuse", "--listen", dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		list, mounted := fmt.Sprintf("/proc/%d/mountinfo", cmd.Process.Pid), []byte(dir)
		for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
			mounts, err := os.ReadFile(list)
			if err != nil || bytes.Contains(mounts, mounted) {
				break
			}
		}
		after := time.Now().Add(time.Duration(rand.IntN(600)) * time.Microsecond)
		for time.Now().Before(after) {
			runtime.Gosched() // a sleep would take longer than that
		}
		_ = cmd.Process.Kill()
		go func() {
			_ = cmd.Wait()
			close(ended)
		}()
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			_ = unix.Unmount(dir, unix.MNT_FORCE)
			t.Fatal("a killed guard does not end")
		}
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Fatalf("the guard was killed without a mount: %v", err)
		}
	}
}

// serveFUSE starts a guard whose disk appears in a directory.
func serveFUSE(t *testing.T, dir, image string) *daemonProcess {
	t.Helper()
	at := dir
	if to, err := os.Readlink(dir); err == nil {
		at = filepath.Join(filepath.Dir(dir), to)
	}
	d := &daemonProcess{dir: at}
	d.start(t, "--disk", image, "--transport", "fuse", "--listen", dir)
	return d
}
