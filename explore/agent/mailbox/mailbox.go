// Package mailbox connects the explorer's agent in user-mode Linux with the host. Messages lie in a
// file of the host that this kernel maps (its parameter iomem=mmapper,FILE), and a terminal carries
// one byte for each message. The terminal alone reads byte for byte, and loses what is longer than
// its buffer.
//
// One message in each direction can be on its way, so that the sides must take turns: the host
// sends a request, and the guest sends its answer. After the messages the file has memory that both
// sides share for something else. Start reading at Guest and at Host.
package mailbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// Layout of the file: a box for each direction. A box begins with the length of its message as a
// little-endian number of 4 bytes; the message follows at dataAt. SharedBytes come after the boxes.
const (
	dataAt  = 4096
	boxSize = 8 << 20
	boxes   = 2 * boxSize
	size    = boxes + SharedBytes
)

// SharedBytes is the size of the memory at the end of the file that both sides share.
const SharedBytes = 1 << 20

// bell is the byte that announces a message.
const bell = '!'

// A box is one direction.
type box []byte

// put writes a message.
func (b box) put(message []byte) error {
	if len(message) > len(b)-dataAt {
		return fmt.Errorf("a message of %d bytes for a mailbox of %d", len(message), len(b)-dataAt)
	}
	copy(b[dataAt:], message)
	binary.LittleEndian.PutUint32(b, uint32(len(message)))
	return nil
}

// message returns the message, in the memory of the box.
func (b box) message() ([]byte, error) {
	n := binary.LittleEndian.Uint32(b)
	if uint64(n) > uint64(len(b)-dataAt) {
		return nil, fmt.Errorf("a mailbox of %d bytes has a message of %d", len(b), n)
	}
	return b[dataAt:][:n], nil
}

// A reader has the rest of the message that is read.
type reader struct{ rest []byte }

// read reads from the present message. If it is read, it waits for the next one in b.
func (r *reader) read(p []byte, b box, wait func() error) (int, error) {
	for len(r.rest) == 0 {
		if err := wait(); err != nil {
			return 0, err
		}
		var err error
		if r.rest, err = b.message(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// mapFile maps a mailbox into memory.
func mapFile(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("%s: mmap: %w", path, err)
	}
	return m, nil
}

// A Host is the host's end, for agent.NewClient. Deadlines are those of the connection.
type Host struct {
	net.Conn // with the terminal
	memory   []byte
	reader
}

// Make makes the file of a mailbox.
func Make(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(size), f.Close())
}

// NewHost returns the host's end of the mailbox in a file. bells is the connection with the guest's
// terminal. It waits until the guest has opened its end. Close closes bells.
func NewHost(path string, bells net.Conn) (*Host, error) {
	memory, err := mapFile(path)
	if err != nil {
		return nil, err
	}
	h := &Host{Conn: bells, memory: memory}
	if err := h.wait(); err != nil {
		return nil, errors.Join(err, unix.Munmap(memory))
	}
	return h, nil
}

// wait waits for a byte from the guest.
func (h *Host) wait() error {
	_, err := h.Conn.Read(make([]byte, 1))
	return err
}

// Read reads from the guest's messages.
func (h *Host) Read(p []byte) (int, error) {
	return h.read(p, h.memory[boxSize:boxes], h.wait)
}

// Write sends a message. The guest must have answered the one before.
func (h *Host) Write(message []byte) (int, error) {
	if err := box(h.memory[:boxSize]).put(message); err != nil {
		return 0, err
	}
	if _, err := h.Conn.Write([]byte{bell}); err != nil {
		return 0, err
	}
	return len(message), nil
}

// Release unmaps the file. Nobody may use the Host any more.
func (h *Host) Release() error { return unix.Munmap(h.memory) }
