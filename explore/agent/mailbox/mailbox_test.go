package mailbox

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// ends returns both ends of a mailbox. A socket takes the place of the terminal.
func ends(t *testing.T) (*Host, *Guest) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mailbox")
	if err := Make(path); err != nil {
		t.Fatal(err)
	}
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fds[0]), "host")
	conn, err := net.FileConn(f)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = conn.Close(), unix.Close(fds[1]) })
	memory, err := mapFile(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(memory) })
	g := &Guest{terminal: fds[1], memory: memory}
	if err := g.ring(); err != nil { // as Open does
		t.Fatal(err)
	}
	h, err := NewHost(path, conn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Release() })
	return h, g
}

// Messages go to and fro, also long ones, and are read in any parts.
func TestMessages(t *testing.T) {
	h, g := ends(t)
	for _, size := range []int{1, 24, 5000, 4<<20 + 24} {
		want := bytes.Repeat([]byte{byte(size)}, size)
		for _, way := range []struct {
			from io.Writer
			to   io.Reader
		}{{h, g}, {g, h}} {
			if n, err := way.from.Write(want); n != size || err != nil {
				t.Fatal(n, err)
			}
			got := make([]byte, size)
			if _, err := io.ReadFull(way.to, got[:1]); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(way.to, got[1:]); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("a message of %d bytes is different: %v", size, err)
			}
		}
	}
}

// A message that does not fit is refused, and so is a length that a guest invents.
func TestBounds(t *testing.T) {
	h, g := ends(t)
	if _, err := h.Write(make([]byte, boxSize)); err == nil {
		t.Error("a message that does not fit is sent")
	}
	if _, err := g.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint32(g.memory[boxSize:], boxSize)
	if _, err := h.Read(make([]byte, 1)); err == nil {
		t.Error("a length beyond the mailbox is accepted")
	}
}

// The guest sees that the host has gone, and deadlines end the host's wait.
func TestEnd(t *testing.T) {
	h, g := ends(t)
	if err := h.SetDeadline(time.Now()); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the deadline: %v", err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the end: %v", err)
	}
}
