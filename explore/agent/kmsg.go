package agent

import (
	"bytes"
	"errors"
	"io"

	"golang.org/x/sys/unix"
)

// kernelLog reads what the kernel logs from now on: /dev/kmsg, Documentation/ABI/testing/dev-kmsg. Writing to it is left alone.
type kernelLog struct {
	fd  int
	err error
}

func openKernelLog() *kernelLog {
	k := &kernelLog{}
	k.fd, k.err = unix.Open("/dev/kmsg", unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if k.err == nil {
		_, k.err = unix.Seek(k.fd, 0, io.SeekEnd)
	}
	return k
}

// end returns the texts of all records since it was opened, the last MaxKernel bytes of them, and closes it. Why it has none
// of them is a text, too.
func (k *kernelLog) end() string {
	if k.fd >= 0 {
		defer unix.Close(k.fd)
	}
	if k.err != nil {
		return "fsagent: /dev/kmsg: " + k.err.Error()
	}
	var out []byte
	record := make([]byte, 8<<10) // a longer one does not exist: CONSOLE_EXT_LOG_MAX
	for {
		n, err := unix.Read(k.fd, record)
		if errors.Is(err, unix.EPIPE) { // overwritten meanwhile: the next read goes on with the oldest that there is
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
