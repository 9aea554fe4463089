// Package device sends commands to the kernel modules of this project: by write(2), with their answers by read(2), so that no
// pointer is handed to the kernel (decision 28).
package device

import (
	"encoding/binary"
	"fmt"
	"io"
	"sync"

	"golang.org/x/sys/unix"
)

// A command's number holds the direction and the size of its struct: _IOC() of linux/ioctl.h.
const (
	None  = 0 // _IO: neither asks nor answers
	Write = 1 // _IOW: the module is given the struct
	Read  = 2 // _IOR: it answers with the struct
)

// Command makes the number of a command: direction, magic, its place in the module's list, and the size of its struct in bytes.
func Command(dir, magic, nr, size uint32) uint32 { return dir<<30 | size<<16 | magic<<8 | nr }

// Device is the open control device of a module. Safe for concurrent use.
type Device struct {
	mu sync.Mutex // an answer belongs to the command before it
	fd int
}

// size returns the size in bytes of a command's struct.
func size(cmd uint32) uint32 { return cmd >> 16 & (1<<14 - 1) }

// Open opens the control device of a module that is loaded. hello is the command whose answer begins with the version of the module's ABI: a
// module of another one than abi is an error.
func Open(path, module string, hello, abi uint32) (*Device, error) {
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: is the module %s loaded?", path, err, module)
	}
	d := &Device{fd: fd}
	answer := make([]byte, size(hello))
	if err = d.Call(hello, answer); err != nil {
		err = fmt.Errorf("%s: hello: %w", path, err)
	} else if is := binary.LittleEndian.Uint32(answer); is != abi {
		err = fmt.Errorf("%s: the module speaks version %d, this program %d", path, is, abi)
	}
	if err != nil {
		_ = d.Close()
		return nil, err
	}
	return d, nil
}

// Close closes the device.
func (d *Device) Close() error { return unix.Close(d.fd) }

// Mark runs a command that puts a text into the module's log: its struct is the text's length, 4 bytes, and room for the text. One that is longer
// than that is an error.
func (d *Device) Mark(cmd uint32, text string) error {
	b := make([]byte, size(cmd))
	if most := len(b) - 8; len(text) > most {
		return fmt.Errorf("a mark of %d bytes, at most %d fit", len(text), most)
	}
	binary.LittleEndian.PutUint32(b, uint32(len(text)))
	copy(b[8:], text)
	if err := d.Call(cmd, b); err != nil {
		return fmt.Errorf("mark: %w", err)
	}
	return nil
}

// Call runs a command on its struct. The answer, if there is one, is put into arg. The error is the module's, an errno.
func (d *Device) Call(cmd uint32, arg []byte) error {
	b := make([]byte, 0, 8+len(arg))
	b = binary.LittleEndian.AppendUint32(b, cmd) // the modules run on amd64
	b = binary.LittleEndian.AppendUint32(b, uint32(len(arg)))
	b = append(b, arg...)
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := unix.Write(d.fd, b); err != nil {
		return err
	}
	if cmd>>30&Read == 0 {
		return nil
	}
	n, err := unix.Read(d.fd, arg)
	if err == nil && n != len(arg) {
		err = io.ErrUnexpectedEOF
	}
	return err
}
