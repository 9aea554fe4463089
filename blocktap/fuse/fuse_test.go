package fuse_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap/zaptest"

	"fsward/blocktap"
	"fsward/blocktap/fuse"
)

// requests is a hook that records all requests.
type requests struct {
	mu   sync.Mutex
	seen []blocktap.Request
}

func (h *requests) Handle(_ context.Context, r *blocktap.Request, do func() error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen = append(h.seen, blocktap.Request{
		Off: r.Off, Len: r.Len, Op: r.Op, FUA: r.FUA, NoHole: r.NoHole,
	})
	return do()
}

func mount(t *testing.T, hook blocktap.Hook) (*fuse.Server, string) {
	t.Helper()
	image := filepath.Join(t.TempDir(), "disk.img")
	if err := os.WriteFile(image, make([]byte, 4<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	disk, err := blocktap.OpenFile(image, blocktap.FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { disk.Close() })
	s, err := fuse.Mount(t.TempDir(), blocktap.NewDevice(disk, hook), zaptest.NewLogger(t))
	if err != nil {
		t.Fatal(err)
	}
	return s, image
}

// TestRequests checks the requests that reach the device for operations on the file. Other
// processes perform these, so that a bug makes a command fail and does not hang the test.
func TestRequests(t *testing.T) {
	hook := &requests{}
	s, image := mount(t, hook)
	for _, command := range []string{
		"dd if=/dev/urandom of=%s bs=64k count=4 seek=2 conv=notrunc",
		"dd if=/dev/urandom of=%s bs=4096 count=1 conv=notrunc oflag=dsync",
		"fallocate -p -o 65536 -l 8192 %s",
		"fallocate -z -n -o 131072 -l 4096 %s",
		"printf within | dd of=%s bs=6 count=1 seek=1194 conv=notrunc", // parts of two sectors
		"dd if=%s bs=6 count=1 skip=1194 | grep -qx within",
	} {
		shell(t, command, s.Path(), true)
	}
	for _, command := range []string{
		"dd if=/dev/urandom of=%s bs=4096 seek=1024 count=1 conv=notrunc", // after the end
		"truncate -s 8M %s",
		"fallocate -o 0 -l 4096 %s",
	} {
		shell(t, command, s.Path(), false)
	}
	want := []blocktap.Request{
		{Op: blocktap.OpWrite, Off: 128 << 10, Len: 64 << 10},
		{Op: blocktap.OpWrite, Off: 192 << 10, Len: 64 << 10},
		{Op: blocktap.OpWrite, Off: 256 << 10, Len: 64 << 10},
		{Op: blocktap.OpWrite, Off: 320 << 10, Len: 64 << 10},
		{Op: blocktap.OpWrite, Off: 0, Len: 4096, FUA: true},
		{Op: blocktap.OpZero, Off: 64 << 10, Len: 8192},
		{Op: blocktap.OpZero, Off: 128 << 10, Len: 4096, NoHole: true},
		{Op: blocktap.OpWrite, Off: 6656, Len: 1024},
	}
	if len(hook.seen) != len(want) {
		t.Fatalf("the hook saw %+v", hook.seen)
	}
	for i, r := range hook.seen {
		w := want[i]
		if r.Off != w.Off || r.Len != w.Len || r.Op != w.Op || r.FUA != w.FUA || r.NoHole != w.NoHole {
			t.Errorf("request %d: %+v, want %+v", i, r, w)
		}
	}
	copied := filepath.Join(t.TempDir(), "copy")
	shell(t, "cp %s "+copied, s.Path(), true)
	if err := s.Unmount(); err != nil {
		t.Fatal(err)
	}
	a, errA := os.ReadFile(copied)
	b, errB := os.ReadFile(image)
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		t.Errorf("the file and the image differ: %v, %v", errA, errB)
	}
}

// TestNoChildKeepsTheConnection checks that a child of the server does not inherit /dev/fuse. A
// child that did would keep a dead server's requests waiting forever.
func TestNoChildKeepsTheConnection(t *testing.T) {
	s, _ := mount(t, nil)
	defer func() {
		if err := s.Unmount(); err != nil {
			t.Error(err)
		}
	}()
	out, err := exec.Command("ls", "-l", "/proc/self/fd").Output()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(out), "/dev/null") || strings.Contains(string(out), "/dev/fuse") {
		t.Errorf("a child has open: %s", out)
	}
}

// TestUnmountInAnotherNamespace unmounts while a process has a copy of the mount.
func TestUnmountInAnotherNamespace(t *testing.T) {
	s, _ := mount(t, nil)
	keeper := exec.Command("unshare", "--mount", "sh", "-c", "echo; exec sleep 60")
	out, err := keeper.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := keeper.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = keeper.Wait() }()
	defer func() { _ = keeper.Process.Kill() }()
	if _, err := out.Read(make([]byte, 1)); err != nil { // it has its own mounts now
		t.Fatal(err)
	}
	start := time.Now()
	if err := s.Unmount(); err != nil || time.Since(start) > 30*time.Second {
		t.Errorf("unmounted after %v: %v", time.Since(start), err)
	}
}

// TestAbort checks that Abort ends a write that the hook holds, and frees the mount point.
func TestAbort(t *testing.T) {
	held := make(chan struct{})
	hook := func(ctx context.Context, _ *blocktap.Request, _ func() error) error {
		close(held)
		<-ctx.Done()
		return blocktap.ErrRefused
	}
	s, _ := mount(t, hookFunc(hook))
	done := make(chan struct{})
	go func() {
		defer close(done)
		shell(t, "dd if=/dev/zero of=%s bs=4096 count=1 conv=notrunc", s.Path(), false)
	}()
	<-held
	if err := s.Abort(); err != nil {
		t.Fatal(err)
	}
	<-done
	if err := os.Remove(filepath.Dir(s.Path())); err != nil {
		t.Errorf("the mount point is still in use: %v", err)
	}
}

// TestCut checks that the server neither performs nor answers a write after Cut, until Abort ends
// the connection.
func TestCut(t *testing.T) {
	seen := &requests{}
	s, image := mount(t, seen)
	shell(t, "printf before | dd of=%s bs=4096 conv=notrunc,sync", s.Path(), true)
	s.Cut()
	done := make(chan struct{})
	go func() {
		defer close(done)
		shell(t, "printf after | dd of=%s bs=4096 conv=notrunc,sync", s.Path(), false)
	}()
	select {
	case <-done:
		t.Error("the server answered a write after Cut")
	case <-time.After(300 * time.Millisecond):
	}
	if err := s.Abort(); err != nil {
		t.Fatal(err)
	}
	<-done
	writes := 0
	for _, r := range seen.seen {
		if r.Op == blocktap.OpWrite {
			writes++
		}
	}
	b, err := os.ReadFile(image)
	if err != nil || writes != 1 || !bytes.HasPrefix(b, []byte("before")) {
		t.Errorf("%d writes, the disk begins with %q, %v", writes, b[:8], err)
	}
}
