package device

import (
	"encoding/binary"
	"fmt"
	"io"
	"sync"

	"golang.org/x/sys/unix"
)

// Directions of commands, for Command.
const (
	None  = 0 // _IO: the command has no struct
	Write = 1 // _IOW: the module reads the struct
	Read  = 2 // _IOR: the module answers with the struct
)

// Command returns the number of a command, as _IOC() of linux/ioctl.h computes it. nr is the
// command's place in the module's list, and size is the size of its struct in bytes.
func Command(dir, magic, nr, size uint32) uint32 { return dir<<30 | size<<16 | magic<<8 | nr }

// size returns the size in bytes of the struct of a command.
func size(cmd uint32) uint32 { return cmd >> 16 & (1<<14 - 1) }

// Control is the open control device of a module. It is safe for concurrent use.
type Control struct {
	module *Module
	fd     int
	mu     sync.Mutex // held from a command to its answer
}

func open(path string, m *Module) (*Control, error) {
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: is the module %s loaded?", path, err, m.Name)
	}
	c := &Control{module: m, fd: fd}
	answer := make([]byte, size(m.Hello))
	if err = c.Call("hello", m.Hello, answer); err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	} else if is := binary.LittleEndian.Uint32(answer); is != m.ABI {
		err = fmt.Errorf("%s: the module has version %d of the ABI, this program version %d",
			path, is, m.ABI)
	}
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// Close closes the device. It changes nothing in the module.
func (c *Control) Close() error { return unix.Close(c.fd) }

// Mark puts a text into the module's log. A text that does not fit into the command's struct is an
// error.
func (c *Control) Mark(text string) error {
	b := make([]byte, size(c.module.Mark)) // the length, 4 bytes of padding, the text
	if most := len(b) - 8; len(text) > most {
		return fmt.Errorf("a mark of %d bytes: at most %d fit", len(text), most)
	}
	binary.LittleEndian.PutUint32(b, uint32(len(text)))
	copy(b[8:], text)
	return c.Call("mark", c.module.Mark, b)
}

// Call runs a command on its struct. If the command has an answer, the answer replaces the struct.
// The error begins with what, the name of the command in messages, and wraps the module's errno.
func (c *Control) Call(what string, cmd uint32, arg []byte) error {
	if err := c.call(cmd, arg); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

func (c *Control) call(cmd uint32, arg []byte) error {
	b := make([]byte, 0, 8+len(arg))
	b = binary.LittleEndian.AppendUint32(b, cmd) // the modules run on amd64
	b = binary.LittleEndian.AppendUint32(b, uint32(len(arg)))
	b = append(b, arg...)
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := unix.Write(c.fd, b); err != nil {
		return err
	}
	if cmd>>30&Read == 0 {
		return nil
	}
	n, err := unix.Read(c.fd, arg)
	if err == nil && n != len(arg) {
		err = io.ErrUnexpectedEOF
	}
	return err
}
