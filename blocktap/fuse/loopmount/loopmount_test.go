package loopmount_test

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"fsward/blocktap"
	"fsward/blocktap/fuse/loopmount"
)

type hookFunc func(ctx context.Context, r *blocktap.Request, do func() error) error

func (h hookFunc) Handle(ctx context.Context, r *blocktap.Request, do func() error) error {
	return h(ctx, r, do)
}

// fsys is a file system under test.
type fsys struct {
	name, mkfs, check string
	size              int64                          // bytes
	commit            func(r *blocktap.Request) bool // reports whether r is a commit write
}

var filesystems = []fsys{
	{
		name: "btrfs", mkfs: "mkfs.btrfs -q", check: "btrfs check", size: 256 << 20,
		// The primary superblock.
		commit: func(r *blocktap.Request) bool { return r.Op == blocktap.OpWrite && r.Off == 65536 },
	},
	{
		name: "ext3", mkfs: "mkfs.ext3 -q", check: "e2fsck -fn", size: 64 << 20,
		// A jbd2 commit block: magic and block type 2, big-endian, at the beginning of a block.
		commit: func(r *blocktap.Request) bool {
			return r.Op == blocktap.OpWrite && len(r.Data) >= 12 &&
				binary.BigEndian.Uint32(r.Data) == 0xc03b3998 && binary.BigEndian.Uint32(r.Data[4:]) == 2
		},
	},
}

func run(t *testing.T, command string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	words := append(strings.Fields(command), args...)
	out, err := exec.CommandContext(ctx, words[0], words[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s (Debian packages btrfs-progs, e2fsprogs): %v\n%s", command, err, out)
	}
}

// attached is a Loop with its disk.
type attached struct {
	*loopmount.Loop
	Disk blocktap.Disk
}

// attach creates a file system on a new image and attaches it. It returns the path of the image.
func attach(t *testing.T, fs fsys, hook blocktap.Hook) (attached, string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Fatal("this test mounts file systems: run it as root")
	}
	image := filepath.Join(t.TempDir(), "disk.img")
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(image, fs.size); err != nil {
		t.Fatal(err)
	}
	run(t, fs.mkfs, image)
	disk, err := blocktap.OpenFile(image, blocktap.FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { disk.Close() })
	log := zaptest.NewLogger(t, zaptest.Level(zap.ErrorLevel))
	m, err := loopmount.Attach(t.Context(), blocktap.NewDevice(disk, hook), log)
	if err != nil {
		t.Fatal(err)
	}
	return attached{m, disk}, image
}

func TestClean(t *testing.T) {
	for _, fs := range filesystems {
		t.Run(fs.name, func(t *testing.T) {
			m, image := attach(t, fs, nil)
			defer m.Close()
			if err := m.Mount(fs.name); err != nil {
				t.Fatal(err)
			}
			if out, err := m.Run(t.Context(), `
				for i in $(seq 1 50); do mkdir d$i; head -c 20000 /dev/urandom >d$i/f; done
				rm -r d7 d13; mv d1 e1; sync -f .
				fallocate -p -o 0 -l 8192 d2/f; fstrim .
				find . -type f | xargs sha256sum >/dev/null; ls | wc -l`); err != nil {
				t.Fatal(err)
			} else if !strings.HasPrefix(string(out), "4") {
				t.Errorf("listing: %s", out)
			}
			if err := m.Unmount(); err != nil {
				t.Fatal(err)
			}
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
			run(t, fs.check, image)
		})
	}
}

// TestRefusedCommit checks that a file system whose commit was refused becomes read-only, and that
// after recovery it contains the earlier commits and not the refused one.
func TestRefusedCommit(t *testing.T) {
	for _, fs := range filesystems {
		t.Run(fs.name, func(t *testing.T) {
			var armed atomic.Bool
			var refused atomic.Int32
			hook := func(_ context.Context, r *blocktap.Request, do func() error) error {
				if armed.Load() && fs.commit(r) {
					refused.Add(1)
					return blocktap.ErrRefused
				}
				return do()
			}
			m, image := attach(t, fs, hookFunc(hook))
			defer m.Close()
			if err := m.Mount(fs.name); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"first", "second"} {
				if _, err := m.Run(t.Context(), "echo "+name+" >"+name+"; sync -f ."); err != nil {
					t.Fatal(err)
				}
			}
			armed.Store(true)
			if _, err := m.Run(t.Context(), "echo third >third; sync -f third"); err == nil {
				t.Error("sync succeeded although its commit was refused")
			}
			if refused.Load() == 0 {
				t.Error("the hook saw no commit")
			}
			if _, err := m.Run(t.Context(), "echo fourth >fourth; sync -f fourth"); err == nil {
				t.Error("a write succeeded after a refused commit")
			}
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}

			// Close the disk without a flush, as a killed server does.
			if err := m.Disk.Close(); err != nil {
				t.Fatal(err)
			}
			recoverRefused(t, fs, image)
			run(t, fs.check, image)
		})
	}
}

// recoverRefused mounts an image, so that the file system recovers, and checks that it contains the
// files of the commits before the refused one.
func recoverRefused(t *testing.T, fs fsys, image string) {
	t.Helper()
	disk, err := blocktap.OpenFile(image, blocktap.FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	log := zaptest.NewLogger(t, zaptest.Level(zap.ErrorLevel))
	m, err := loopmount.Attach(t.Context(), blocktap.NewDevice(disk, nil), log)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if err := m.Mount(fs.name); err != nil {
		t.Fatal(err)
	}
	out, err := m.Run(t.Context(), "cat first second; test ! -e third; test ! -e fourth")
	if err != nil || string(out) != "first\nsecond\n" {
		t.Errorf("after the refusal: %q, %v", out, err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestHold checks that reads from the disk succeed while the hook holds a commit.
func TestHold(t *testing.T) {
	fs := filesystems[0]
	var armed atomic.Bool
	held, release := make(chan struct{}), make(chan struct{})
	hook := func(_ context.Context, r *blocktap.Request, do func() error) error {
		if fs.commit(r) && armed.CompareAndSwap(true, false) {
			close(held)
			<-release
		}
		return do()
	}
	m, image := attach(t, fs, hookFunc(hook))
	defer m.Close()
	if err := m.Mount(fs.name); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Run(t.Context(), "head -c 8M /dev/urandom >f; sync -f .; echo g >g"); err != nil {
		t.Fatal(err)
	}
	armed.Store(true)
	synced := make(chan error, 1)
	go func() {
		_, err := m.Run(context.Background(), "sync -f g")
		synced <- err
	}()
	<-held
	if _, err := m.Run(t.Context(), "dd if=f of=/dev/null bs=1M iflag=direct 2>&1"); err != nil {
		t.Errorf("read while the hook held a commit: %v", err)
	}
	select {
	case err := <-synced:
		t.Errorf("sync returned while the hook held its commit: %v", err)
	default:
	}
	close(release)
	if err := <-synced; err != nil {
		t.Error(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	run(t, fs.check, image)
}

// TestTimeout checks that Run and Close return although the hook never answers.
func TestTimeout(t *testing.T) {
	fs := filesystems[1]
	var armed atomic.Bool
	hook := func(ctx context.Context, r *blocktap.Request, do func() error) error {
		if armed.Load() {
			<-ctx.Done()
			return blocktap.ErrRefused
		}
		return do()
	}
	m, _ := attach(t, fs, hookFunc(hook))
	defer m.Close()
	if err := m.Mount(fs.name); err != nil {
		t.Fatal(err)
	}
	armed.Store(true)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := m.Run(ctx, "echo x >x; sync -f x")
	var timeout *loopmount.TimeoutError
	if !errors.As(err, &timeout) || timeout.Stuck {
		t.Fatalf("sync on a device that hangs: %v", err)
	}
	start := time.Now()
	if err := m.Close(); err != nil {
		t.Logf("close after an abort: %v", err)
	}
	if d := time.Since(start); d > 20*time.Second {
		t.Errorf("close took %v", d)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil || strings.Contains(string(mounts), filepath.Dir(m.Dir)) {
		t.Errorf("a mount remains: %v\n%s", err, mounts)
	}
}

// TestLoopIsHeld checks that Close waits for another process that has the loop device open, or
// mounted in its own namespace, and that the error names the process after the timeout.
func TestLoopIsHeld(t *testing.T) {
	for _, tc := range []struct {
		name    string
		hold    string // a shell command; $1 is the device
		timeout time.Duration
		wantErr string
	}{
		{"open for a while", "sleep 3 < $1", time.Minute, ""},
		{"open for too long", "exec sleep 4 < $1", 2 * time.Second, "which has it open"},
		{"mounted for a while", "exec unshare --mount sleep 3", time.Minute, ""},
		{"mounted for too long", "exec unshare --mount sleep 4", 2 * time.Second, "which has it mounted"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m, _ := attach(t, filesystems[1], nil)
			if err := m.Mount("ext3"); err != nil {
				t.Fatal(err)
			}
			holder := exec.Command("sh", "-c", tc.hold, "sh", m.LoopDev)
			if err := holder.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second) // until it has opened the device
			m.Timeout = tc.timeout
			err := m.Close()
			switch {
			case tc.wantErr == "" && err != nil:
				t.Errorf("Close: %v", err)
			case tc.wantErr != "" && (err == nil || !strings.Contains(err.Error(), tc.wantErr)):
				t.Errorf("Close: %v, want %q", err, tc.wantErr)
			}
			if err := holder.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
}
