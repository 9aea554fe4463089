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

// Open opens a control device. module is what has to be loaded for it to be there.
func Open(path, module string) (*Device, error) {
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: is the module %s loaded?", path, err, module)
	}
	return &Device{fd: fd}, nil
}

// Close closes the device.
func (d *Device) Close() error { return unix.Close(d.fd) }

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
