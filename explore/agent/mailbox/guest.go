package mailbox

import (
	"fmt"
	"io"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// A Guest is the guest's end, for agent.NewServer. A system call of user-mode Linux costs 20 µs and
// more, so that each message takes one. They are raw: the Go runtime does not know that they wait,
// and starts no thread in their place.
type Guest struct {
	terminal int // file descriptor
	memory   []byte
	reader
}

// Open opens the guest's end of a mailbox, and tells the host. device is the device of the mapped
// file, and terminal that of the terminal.
func Open(device, terminal string) (*Guest, error) {
	fd, err := unix.Open(terminal, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", terminal, err)
	}
	if _, err := term.MakeRaw(fd); err != nil {
		return nil, fmt.Errorf("%s: %w", terminal, err)
	}
	memory, err := mapFile(device)
	if err != nil {
		return nil, err
	}
	g := &Guest{terminal: fd, memory: memory}
	return g, g.ring()
}

// ring sends a byte to the host.
func (g *Guest) ring() error { return g.transfer(unix.SYS_WRITE) }

// wait waits for a byte from the host.
func (g *Guest) wait() error { return g.transfer(unix.SYS_READ) }

// transfer reads or writes one byte of the terminal.
func (g *Guest) transfer(call uintptr) error {
	b := [1]byte{bell}
	for {
		n, errno := rawTransfer(call, g.terminal, &b)
		switch {
		case errno == unix.EINTR:
		case errno != 0:
			return errno
		case n == 0:
			return io.EOF
		default:
			return nil
		}
	}
}

// Read reads from the host's messages. It returns io.EOF when the host has closed its end.
func (g *Guest) Read(p []byte) (int, error) {
	return g.read(p, g.memory[:boxSize], g.wait)
}

// Write sends a message.
func (g *Guest) Write(message []byte) (int, error) {
	if err := box(g.memory[boxSize:boxes]).put(message); err != nil {
		return 0, err
	}
	return len(message), g.ring()
}

// Shared returns the memory that the guest shares with the host.
func (g *Guest) Shared() []byte { return g.memory[boxes:] }
