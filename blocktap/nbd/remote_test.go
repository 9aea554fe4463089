package nbd

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fsward/blocktap"
)

func dialRemote(t testing.TB, socket string, opt RemoteOptions) *Remote {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	d, err := Dial(ctx, "unix", socket, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// startPeer runs another project's server until the test ends.
func startPeer(t *testing.T, socket, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v: install the Debian packages nbdkit and qemu-utils", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for range 400 {
		if nc, err := net.Dial("unix", socket); err == nil {
			nc.Close()
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s does not listen", name)
}

// TestRemotePeers writes, zeroes, trims and reads at random through three servers, and compares
// with a model.
func TestRemotePeers(t *testing.T) {
	for _, c := range []struct {
		name  string
		serve func(t *testing.T, socket string)
		trims bool // a trimmed range reads as zeros
	}{
		{name: "ours", trims: true},
		{"qemu-nbd", func(t *testing.T, socket string) {
			startPeer(t, socket, "qemu-nbd", "-t", "-e", "8", "-f", "raw", "-x", "disk", "-k", socket,
				"--discard=unmap", newImage(t))
		}, true},
		{"nbdkit", func(t *testing.T, socket string) {
			startPeer(t, socket, "nbdkit", "-f", "-U", socket, "memory", "64M")
		}, true},
		{"nbdkit without extras", func(t *testing.T, socket string) {
			startPeer(t, socket, "nbdkit", "-f", "-U", socket, "--filter=nozero",
				"--filter=blocksize-policy", "--no-sr", "memory", "64M",
				"zeromode=none", "blocksize-maximum=64k",
				"blocksize-preferred=4k", "blocksize-minimum=512", "blocksize-error-policy=error")
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			socket := filepath.Join(t.TempDir(), "s")
			if c.serve == nil {
				s, _ := serveDisk(t, nil)
				socket = s.socket
			} else {
				c.serve(t, socket)
			}
			againstModel(t, dialRemote(t, socket, RemoteOptions{Export: "disk"}), c.trims)
		})
	}
}

func againstModel(t *testing.T, d *Remote, trims bool) {
	t.Helper()
	if d.Size() != diskSize {
		t.Fatalf("%d bytes", d.Size())
	}
	model := make([]byte, diskSize)
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range 200 {
		off := uint64(rnd.IntN(diskSize/512)) * 512
		n := min(uint64(1+rnd.IntN(1<<rnd.IntN(11)))*512, diskSize-off)
		part := model[off : off+n]
		var err error
		switch rnd.IntN(5) {
		case 0, 1:
			for j := range part {
				part[j] = byte(rnd.Uint32())
			}
			_, err = d.WriteAt(part, int64(off))
		case 2:
			clear(part)
			if err = d.Zero(off, n); i%2 == 0 {
				err = d.ZeroReserved(off, n)
			}
		case 3:
			if trims {
				clear(part)
				err = errors.Join(d.Trim(off, n), d.Zero(off, n))
			}
		default:
			got := make([]byte, n)
			if _, err = d.ReadAt(got, int64(off)); err == nil && !bytes.Equal(got, part) {
				t.Fatalf("step %d: %d bytes at %d differ", i, n, off)
			}
		}
		if err != nil {
			t.Fatalf("step %d: %d bytes at %d: %v", i, n, off, err)
		}
	}
	if err := d.Flush(); err != nil {
		t.Error(err)
	}
	got := make([]byte, diskSize)
	if _, err := d.ReadAt(got, 0); err != nil || !bytes.Equal(got, model) {
		t.Errorf("the whole disk differs: %v", err)
	}
	holesAreZeros(t, d, model)
}

// holesAreZeros checks that Extents covers the disk, and that its holes have no data.
func holesAreZeros(t *testing.T, d *Remote, model []byte) {
	t.Helper()
	for off := uint64(0); off < diskSize; {
		runs, err := d.Extents(off, diskSize-off)
		if err != nil || len(runs) == 0 {
			t.Fatalf("extents at %d: %v, %v", off, runs, err)
		}
		for _, r := range runs {
			if r.Len > diskSize-off {
				t.Fatalf("extent of %d bytes at %d", r.Len, off)
			}
			if r.Hole && !bytes.Equal(model[off:off+r.Len], make([]byte, r.Len)) {
				t.Errorf("%d bytes at %d are no hole", r.Len, off)
			}
			off += r.Len
		}
	}
}

// TestRemoteParallel checks that answers in any order find their requests.
func TestRemoteParallel(t *testing.T) {
	s, _ := serveDisk(t, nil)
	d := dialRemote(t, s.socket, RemoteOptions{})
	var wg sync.WaitGroup
	for g := range 16 {
		wg.Go(func() {
			want, got := bytes.Repeat([]byte{byte(g + 1)}, 8192), make([]byte, 8192)
			for i := range 50 {
				off := int64(g*50+i) * 8192
				_, err := d.WriteAt(want, off)
				if err == nil {
					_, err = d.ReadAt(got, off)
				}
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("at %d: %v", off, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestRemoteExtents(t *testing.T) {
	s, _ := serveDisk(t, nil)
	d := dialRemote(t, s.socket, RemoteOptions{})
	if _, err := d.WriteAt(bytes.Repeat([]byte{1}, 1<<20), 2<<20); err != nil {
		t.Fatal(err)
	}
	got, err := d.Extents(0, diskSize)
	want := []blocktap.Extent{{Len: 2 << 20, Hole: true}, {Len: 1 << 20},
		{Len: diskSize - 3<<20, Hole: true}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

// TestRemoteErrors checks the errors of a server, and that a failed flush stays failed.
func TestRemoteErrors(t *testing.T) {
	full := errors.Join(errors.New("full"), syscall.ENOSPC)
	s, _ := serveDisk(t, hookFunc(func(_ context.Context, r *blocktap.Request, _ func() error) error {
		if r.Off == 0 {
			return full
		}
		return blocktap.ErrRefused
	}))
	d := dialRemote(t, s.socket, RemoteOptions{})
	if _, err := d.WriteAt(make([]byte, 512), 0); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("full: %v", err)
	}
	if _, err := d.WriteAt(make([]byte, 512), 512); !errors.Is(err, syscall.EIO) ||
		!strings.Contains(err.Error(), "refused") {
		t.Errorf("refused: %v", err)
	}
	if _, err := d.WriteAt(make([]byte, 512), diskSize); !errors.Is(err, blocktap.ErrRange) {
		t.Errorf("range: %v", err)
	}
	ro := dialRemote(t, s.socket, RemoteOptions{ReadOnly: true})
	if err := ro.Zero(0, 512); !errors.Is(err, blocktap.ErrReadOnly) {
		t.Errorf("read-only: %v", err)
	}
	if _, err := Dial(context.Background(), "unix", s.socket,
		RemoteOptions{Export: "none"}); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("unknown export: %v", err)
	}
}

// TestRemoteLost checks that requests in flight and later ones fail when the server goes.
func TestRemoteLost(t *testing.T) {
	held := make(chan struct{})
	hold := func(ctx context.Context, _ *blocktap.Request, _ func() error) error {
		close(held)
		<-ctx.Done()
		return ctx.Err()
	}
	s, _ := serveDisk(t, hookFunc(hold))
	d := dialRemote(t, s.socket, RemoteOptions{})
	failed := make(chan error, 1)
	go func() {
		_, err := d.WriteAt(make([]byte, 512), 0)
		failed <- err
	}()
	<-held
	s.cut()
	<-d.Lost()
	if err := <-failed; !errors.Is(err, ErrLost) {
		t.Errorf("the request in flight: %v", err)
	}
	for range 2 {
		if err := d.Flush(); !errors.Is(err, ErrLost) {
			t.Errorf("later: %v", err)
		}
	}
}
