package qemudisk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"fsward/blocktap"
)

const diskSize = 16 << 20

// qemu runs one of QEMU's programs.
func qemu(t testing.TB, args ...string) string {
	t.Helper()
	out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v (Debian package qemu-utils)\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// create makes an image of diskSize bytes.
func create(t testing.TB, name string, format Format, more ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	qemu(t, append([]string{"qemu-img", "create", "-q", "-f", string(format)},
		append(more, path, fmt.Sprint(diskSize))...)...)
	return path
}

func open1(t testing.TB, path string, opt Options) blocktap.Disk {
	t.Helper()
	d, err := Open(context.Background(), path, opt)
	for range 100 { // a socket has its name before its server listens
		if !errors.Is(err, syscall.ECONNREFUSED) {
			break
		}
		time.Sleep(10 * time.Millisecond)
		d, err = Open(context.Background(), path, opt)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// work changes a disk at random and returns what it has to contain.
func work(t testing.TB, d blocktap.Disk) []byte {
	t.Helper()
	if d.Size() != diskSize {
		t.Fatalf("%d bytes", d.Size())
	}
	model := make([]byte, diskSize)
	rnd := rand.New(rand.NewPCG(3, 4))
	for i := range 60 {
		off := uint64(rnd.IntN(diskSize/512)) * 512
		n := min(uint64(1+rnd.IntN(1<<rnd.IntN(10)))*512, diskSize-off)
		var err error
		switch part := model[off : off+n]; rnd.IntN(4) {
		case 0:
			clear(part)
			err = d.Zero(off, n)
		case 1:
			clear(part)
			err = errors.Join(d.Trim(off, n), d.Zero(off, n))
		default:
			for j := range part {
				part[j] = byte(i)
			}
			_, err = d.WriteAt(part, int64(off))
		}
		if err != nil {
			t.Fatalf("step %d: %d bytes at %d: %v", i, n, off, err)
		}
	}
	if err := d.Flush(); err != nil {
		t.Fatal(err)
	}
	return model
}

func contains(t testing.TB, d blocktap.Disk, want []byte) {
	t.Helper()
	got := make([]byte, len(want))
	if _, err := d.ReadAt(got, 0); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the content differs: %v", err)
	}
}

// TestFormats changes an image of each format, and compares what qemu-img reads from it.
func TestFormats(t *testing.T) {
	for _, f := range formats {
		t.Run(string(f.format), func(t *testing.T) {
			path := create(t, "disk."+string(f.format), f.format)
			d := open1(t, path, Options{})
			want := work(t, d)
			contains(t, d, want)
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
			raw := filepath.Join(t.TempDir(), "raw")
			qemu(t, "qemu-img", "convert", "-f", string(f.format), "-O", "raw", path, raw)
			if got, err := os.ReadFile(raw); err != nil || !bytes.Equal(got, want) {
				t.Errorf("qemu-img reads something else: %v", err)
			}
			if f.format != VMDK { // which qemu-img cannot check
				qemu(t, "qemu-img", "check", "-f", string(f.format), path)
			}
			image, err := OpenImage(path)
			if err != nil {
				t.Fatal(err)
			}
			defer image.Close()
			contains(t, image, want)
			if err := image.Zero(0, 512); !errors.Is(err, blocktap.ErrReadOnly) {
				t.Errorf("write to an image that is opened for reading: %v", err)
			}
		})
	}
}

// TestTrimFreesSpace checks that a discard reaches the file that holds the image.
func TestTrimFreesSpace(t *testing.T) {
	path := create(t, "disk.qcow2", Qcow2)
	d := open1(t, path, Options{})
	blocks := func() int64 {
		var st syscall.Stat_t
		if err := errors.Join(d.Flush(), syscall.Stat(path, &st)); err != nil {
			t.Fatal(err)
		}
		return st.Blocks * 512
	}
	if _, err := d.WriteAt(bytes.Repeat([]byte{1}, 8<<20), 0); err != nil {
		t.Fatal(err)
	}
	full := blocks()
	if err := d.Trim(0, 8<<20); err != nil {
		t.Fatal(err)
	}
	if left := blocks(); full < 8<<20 || left > full-(7<<20) {
		t.Errorf("%d bytes before the trim, %d after", full, left)
	}
}

// TestSnapshotsSurvive checks that an internal snapshot stays as it was.
func TestSnapshotsSurvive(t *testing.T) {
	path := create(t, "disk.qcow2", Qcow2)
	qemu(t, "qemu-io", "-f", "qcow2", "-c", "write -P 7 0 1M", path)
	qemu(t, "qemu-img", "snapshot", "-c", "before", path)
	list := qemu(t, "qemu-img", "snapshot", "-l", path)
	d := open1(t, path, Options{})
	work(t, d)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if after := qemu(t, "qemu-img", "snapshot", "-l", path); after != list ||
		!strings.Contains(list, "before") {
		t.Errorf("snapshots before:\n%safter:\n%s", list, after)
	}
	qemu(t, "qemu-img", "snapshot", "-a", "before", path)
	out := qemu(t, "qemu-io", "-f", "qcow2", "-c", "read -P 7 0 1M", "-c", "read -P 0 1M 15M", path)
	if strings.Contains(out, "failed") || strings.Contains(out, "differ") {
		t.Errorf("the snapshot has another content:\n%s", out)
	}
}

// TestKilled checks that every request fails when the qemu-storage-daemon is gone, and that nobody
// can write the image again until somebody has removed the marker: acknowledged writes are lost.
func TestKilled(t *testing.T) {
	path := create(t, "disk.qcow2", Qcow2)
	d := open1(t, path, Options{}).(*disk)
	if _, err := d.WriteAt(make([]byte, 512), 0); err != nil {
		t.Fatal(err)
	}
	if err := d.process.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-d.process.ended
	_, readErr := d.ReadAt(make([]byte, 512), 0)
	_, writeErr := d.WriteAt(make([]byte, 512), 0)
	_, extentsErr := d.Extents(0, 512)
	for _, err := range []error{readErr, writeErr, extentsErr, d.Flush(), d.Trim(0, 512),
		d.Zero(0, 512), d.ZeroReserved(0, 512)} {
		var ended *EndedError
		if !errors.As(err, &ended) || ended.Status != "signal: killed" {
			t.Errorf("%v, want that the process was killed", err)
		}
	}
	var lost *LostError
	if _, err := Open(t.Context(), path, Options{}); !errors.As(err, &lost) {
		t.Fatalf("opening the image again: %v, want a LostError", err)
	}
	if err := open1(t, path, Options{ReadOnly: true}).Close(); err != nil {
		t.Error(err)
	}
	if err := os.Remove(lost.Marker); err != nil {
		t.Fatal(err)
	}
	open1(t, path, Options{})
}

// TestBusy checks that an image in use cannot be opened, by us or by QEMU.
func TestBusy(t *testing.T) {
	path := create(t, "disk.qcow2", Qcow2)
	d := open1(t, path, Options{})
	for _, format := range []Format{Qcow2, Raw} {
		var busy *blocktap.BusyError
		if _, err := Open(context.Background(), path, Options{Format: format}); !errors.As(err, &busy) {
			t.Errorf("as %s: %v", format, err)
		}
	}
	if out, err := exec.Command("qemu-io", "-f", "qcow2", "-c", "write 0 512", path).
		CombinedOutput(); err == nil {
		t.Errorf("qemu opens the image as well:\n%s", out)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("qemu-io", "-f", "qcow2", path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil { // its prompt: it has opened the image
		t.Fatal(err)
	}
	var busy *blocktap.BusyError
	if _, err := Open(context.Background(), path, Options{}); !errors.As(err, &busy) {
		t.Errorf("while qemu uses it: %v", err)
	}
	if err := errors.Join(in.Close(), cmd.Wait()); err != nil {
		t.Error(err)
	}
}

// TestParentKilled checks that the image is free again soon after the process that opened it was
// killed, and that it is sound.
func TestParentKilled(t *testing.T) {
	if path := os.Getenv("QEMUDISK_PARENT"); path != "" {
		d := open1(t, path, Options{})
		if _, err := d.WriteAt(bytes.Repeat([]byte{9}, 1<<20), 0); err != nil {
			t.Fatal(err)
		}
		if err := d.Flush(); err != nil {
			t.Fatal(err)
		}
		fmt.Println("flushed")
		time.Sleep(time.Minute)
	}
	path := create(t, "disk.qcow2", Qcow2)
	cmd := exec.Command(os.Args[0], "-test.run=^TestParentKilled$")
	cmd.Env = append(os.Environ(), "QEMUDISK_PARENT="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for said := []byte{}; !bytes.Contains(said, []byte("flushed")); {
		b := make([]byte, 100)
		n, err := out.Read(b)
		if err != nil {
			t.Fatalf("%v: %s", err, said)
		}
		said = append(said, b[:n]...)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	d := open1(t, path, Options{})
	want := append(bytes.Repeat([]byte{9}, 1<<20), make([]byte, diskSize-1<<20)...)
	contains(t, d, want)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	qemu(t, "qemu-img", "check", path)
}

// TestRemote guards a disk that qemu-nbd serves.
func TestRemote(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	path := create(t, "disk.img", Raw)
	cmd := exec.Command("qemu-nbd", "-f", "raw", "-x", "vol", "-k", socket, "--discard=unmap", path)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for range 400 {
		if _, err := os.Stat(socket); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	d := open1(t, "nbd+unix:///vol?socket="+socket, Options{})
	want := work(t, d)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil { // it ends with its client
		t.Error(err)
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the image behind differs: %v", err)
	}
}

// TestBroken checks that an image that QEMU does not open is an error with QEMU's reason.
func TestBroken(t *testing.T) {
	path := create(t, "disk.qcow2", Qcow2)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte{0xff, 0xff}, 40); err != nil { // the offset of the L1 table
		t.Fatal(err)
	}
	f.Close()
	_, err = Open(context.Background(), path, Options{})
	if err == nil || !strings.Contains(err.Error(), "L1 table") {
		t.Errorf("%v", err)
	}
}

// TestBadSector reads a remote disk with a bad sector. The read of it fails, and no other.
func TestBadSector(t *testing.T) {
	dir := t.TempDir()
	image, bad, socket := filepath.Join(dir, "disk.img"), filepath.Join(dir, "map"),
		filepath.Join(dir, "s")
	const at = 1 << 20
	for path, text := range map[string]string{
		image: strings.Repeat("x", 2*at),
		// a map of ddrescue(1): the last range has errors
		bad: fmt.Sprintf("0x0 ? 1\n0x0 %#x +\n%#x 0x1000 -\n", at, at),
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	server := exec.CommandContext(t.Context(), "nbdkit", "-f", "-U", socket, "--filter=ddrescue",
		"file", image, "ddrescue-mapfile="+bad)
	if err := server.Start(); err != nil {
		t.Fatalf("%v (Debian package nbdkit)", err)
	}
	defer func() { _ = server.Wait() }()
	defer func() { _ = server.Process.Kill() }()
	for range 100 {
		if _, err := os.Stat(socket); err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	d := open1(t, "nbd+unix:///?socket="+socket, Options{ReadOnly: true})
	p := make([]byte, 4096)
	if _, err := d.ReadAt(p, at); !errors.Is(err, syscall.EIO) {
		t.Errorf("reading the bad sector: %v, want EIO", err)
	}
	if _, err := d.ReadAt(p, 0); err != nil || p[0] != 'x' {
		t.Errorf("after the bad sector: %v", err)
	}
}
