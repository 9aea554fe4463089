package agent

import (
	"bytes"
	"errors"
	"io"

	"golang.org/x/sys/unix"
)

// A kernelLog reads the records that the kernel logs after it is opened. It reads /dev/kmsg (see
// Documentation/ABI/testing/dev-kmsg), and never writes to it.
type kernelLog struct {
	fd  int
	err error
}

// openKernelLog opens the kernel's log at its present end. end reports an error of opening.
func openKernelLog() *kernelLog {
	k := &kernelLog{}
	k.fd, k.err = unix.Open("/dev/kmsg", unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if k.err == nil {
		_, k.err = unix.Seek(k.fd, 0, io.SeekEnd)
	}
	return k
}

// end closes the log, and returns what take returns.
func (k *kernelLog) end() string {
	if k.fd >= 0 {
		defer unix.Close(k.fd)
	}
	return k.take()
}

// take returns the texts of the records since the log was opened or taken, one a line, cut to the
// last MaxKernel bytes. If the log could not be opened, it returns the reason as text.
func (k *kernelLog) take() string {
	if k.err != nil {
		return "fsagent: /dev/kmsg: " + k.err.Error()
	}
	var out []byte
	record := make([]byte, 8<<10) // CONSOLE_EXT_LOG_MAX bounds a record
	for {
		n, err := unix.Read(k.fd, record)
		// The kernel has overwritten the next record. The following read returns the oldest one that
		// is left.
		if errors.Is(err, unix.EPIPE) {
			out = append(out, "fsagent: records are lost\n"...)
			continue
		}
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n == 0 {
			break
		}
		_, text, _ := bytes.Cut(record[:n], []byte(";"))
		line, _, _ := bytes.Cut(text, []byte("\n"))
		out = append(append(out, line...), '\n')
		if len(out) > 2*MaxKernel {
			out = append(out[:0], out[len(out)-MaxKernel:]...)
		}
	}
	return string(out[max(0, len(out)-MaxKernel):])
}
