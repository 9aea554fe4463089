package nbd

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"fsward/blocktap"
)

type hookFunc func(ctx context.Context, r *blocktap.Request, do func() error) error

func (h hookFunc) Handle(ctx context.Context, r *blocktap.Request, do func() error) error {
	return h(ctx, r, do)
}

const diskSize = 64 << 20

// newImage creates a sparse file of diskSize bytes.
func newImage(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "disk.img")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, diskSize); err != nil {
		t.Fatal(err)
	}
	return path
}

func openDisk(t testing.TB, path string) blocktap.Disk {
	t.Helper()
	disk, err := blocktap.OpenFile(path, blocktap.FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { disk.Close() })
	return disk
}

// running is a server that runs until the test ends.
type running struct {
	*Server
	socket string
	logs   *observer.ObservedLogs
}

// uri returns the URI of an export for libnbd and qemu.
func (r running) uri(export string) string {
	return "nbd+unix:///" + export + "?socket=" + r.socket
}

func serve(t testing.TB, exports ...Export) running {
	t.Helper()
	core, logs := observer.New(zapcore.DebugLevel)
	socket := filepath.Join(t.TempDir(), "nbd.sock")
	l, err := Listen(socket)
	if err != nil {
		t.Fatal(err)
	}
	s := NewServer(exports, zap.New(core))
	served := make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	go func() { served <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-served:
			if err != nil {
				t.Errorf("Serve: %v", err)
			}
		case <-time.After(20 * time.Second):
			t.Error("Serve does not return")
		}
	})
	return running{s, socket, logs}
}

// serveDisk serves a new disk as "disk" and returns its path.
func serveDisk(t testing.TB, hook blocktap.Hook) (running, string) {
	t.Helper()
	path := newImage(t)
	dev := blocktap.NewDevice(openDisk(t, path), hook)
	return serve(t, Export{Name: "disk", Device: dev, Description: "a disk"}), path
}

// peer runs another project's client program.
func peer(t testing.TB, name string, args ...string) (string, error) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Fatalf("%s is missing: install the Debian packages libnbd-bin, qemu-utils and fio", name)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	return string(out), err
}

func mustPeer(t testing.TB, name string, args ...string) string {
	t.Helper()
	out, err := peer(t, name, args...)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return out
}

// warnings returns the server's log messages at warning level.
func (r running) warnings() string {
	var b strings.Builder
	for _, e := range r.logs.FilterLevelExact(zapcore.WarnLevel).All() {
		b.WriteString(e.Message)
		for _, f := range e.Context {
			b.WriteString(" " + f.Key + "=" + f.String)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestGracefulShutdown(t *testing.T) {
	held, release := make(chan struct{}), make(chan struct{})
	hook := func(_ context.Context, _ *blocktap.Request, do func() error) error {
		close(held)
		<-release
		return do()
	}
	s, path := serveDisk(t, hookFunc(hook))
	var out string
	var err error
	var wg sync.WaitGroup
	wg.Go(func() {
		out, err = peer(t, "qemu-io", "-f", "raw", "-c", "write -P 7 0 4096", s.uri("disk"))
	})
	<-held
	wg.Go(func() {
		time.Sleep(100 * time.Millisecond)
		close(release)
	})
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		t.Errorf("Shutdown: %v", err)
	}
	wg.Wait()
	if !strings.Contains(out, "wrote 4096/4096") {
		t.Errorf("Shutdown did not wait for the write: %v\n%s", err, out)
	}
	if b, err := os.ReadFile(path); err != nil || b[0] != 7 {
		t.Errorf("the write is not on the disk: %v", err)
	}
	if _, err := net.Dial("unix", s.socket); err == nil {
		t.Error("the socket still accepts connections")
	}
}

func TestShutdownCutsOff(t *testing.T) {
	held := make(chan struct{})
	hook := func(ctx context.Context, _ *blocktap.Request, _ func() error) error {
		close(held)
		<-ctx.Done()
		return blocktap.ErrRefused
	}
	s, _ := serveDisk(t, hookFunc(hook))
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = peer(t, "qemu-io", "-f", "raw", "-c", "write 0 4096", s.uri("disk")) })
	<-held
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if err := s.Shutdown(ctx); err == nil {
		t.Error("Shutdown returned nil while the hook held a write")
	}
	wg.Wait()
}

func TestListen(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	l, err := Listen(socket)
	if err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(socket); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("socket: %v, %v", st.Mode(), err)
	}
	if l2, err := Listen(socket); err == nil {
		l2.Close()
		t.Error("Listen accepted a socket in use")
	} else if !strings.Contains(err.Error(), "socket in use") ||
		!strings.Contains(err.Error(), socket) {
		t.Errorf("socket in use: %v", err)
	}
	// Leave a stale socket, as after kill -9.
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close()
	if _, err := os.Stat(socket); err != nil {
		t.Fatal(err)
	}
	l, err = Listen(socket)
	if err != nil {
		t.Fatalf("a stale socket: %v", err)
	}
	l.Close()
	if err := os.WriteFile(socket, []byte("data"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(socket); err == nil || !strings.Contains(err.Error(), "not a socket") {
		t.Errorf("Listen on a file: %v", err)
	}
	if b, err := os.ReadFile(socket); err != nil || string(b) != "data" {
		t.Errorf("Listen changed the file: %q, %v", b, err)
	}
}
