//go:build vmtest

package vm

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"
)

// These tests boot a guest through libvirt. They run with -tags vmtest. Missing prerequisites are
// failures, never skips.

// trouble matches lines that a healthy kernel does not print.
var trouble = regexp.MustCompile(
	`\bBUG:|\bWARNING:|\bOops\b|Call Trace:|general protection|Kernel panic`)

// guestFiles builds the kernel and the initramfs in the folder that $FSWARD_GUEST names, if they
// are not there.
func guestFiles(t *testing.T) (kernel, initramfs string) {
	t.Helper()
	out, err := filepath.Abs(cmp.Or(os.Getenv("FSWARD_GUEST"), "../../build/guest"))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := exec.Command("sh", "../../guest/build.sh", out).CombinedOutput(); err != nil {
		t.Fatalf("cannot build the guest: %v\n%s", err, b)
	}
	return filepath.Join(out, "vmlinuz"), filepath.Join(out, "initramfs.cpio.zst")
}

// shortDir returns a run directory: that of testing is too long for the paths of sockets.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "fsward-vm-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the run directory %s is kept", dir)
			return
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// serve serves an empty image with an NBD server and returns the image and the disk.
func serve(t *testing.T, dir, name string, mib int64) (image string, disk Disk) {
	t.Helper()
	image = filepath.Join(dir, name+".img")
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(image, mib<<20); err != nil {
		t.Fatal(err)
	}
	disk = Disk{NBDSocket: filepath.Join(dir, name+".nbd"), Export: name, Serial: name}
	start(t, disk.NBDSocket, "qemu-utils", "qemu-nbd", "-t", "-f", "raw", "-x", name, "-k",
		disk.NBDSocket,
		"--cache=writeback", "--discard=unmap", image)
	return image, disk
}

// start runs a server during the test and waits for its socket.
func start(t *testing.T, socket, pkg string, args ...string) {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v: apt-get install %s", err, pkg)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	for range 200 {
		if _, err := os.Stat(socket); err == nil {
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Fatalf("%s does not make its socket", args[0])
}

// transcript collects the console.
type transcript struct {
	mu    sync.Mutex
	lines []string
	at    []time.Time
}

func (l *transcript) add(s string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines, l.at = append(l.lines, s), append(l.at, time.Now())
}

// when returns the time of a line with this text.
func (l *transcript) when(text string) (time.Time, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, s := range l.lines {
		if strings.Contains(s, text) {
			return l.at[i], true
		}
	}
	return time.Time{}, false
}

// healthy fails the test for lines that a healthy kernel does not print.
func (l *transcript) healthy(t *testing.T) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.lines {
		if trouble.MatchString(s) {
			t.Errorf("the guest's kernel says: %s", s)
		}
	}
}

// clean runs the file system's own checker.
func clean(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func connect(ctx context.Context, t *testing.T, dir string) *Host {
	t.Helper()
	h, err := Connect(ctx, dir, zaptest.NewLogger(t,
		zaptest.WrapOptions(zap.AddStacktrace(zap.PanicLevel))))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

func size(t *testing.T, path string) int64 {
	t.Helper()
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return st.Size()
}
