package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
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
