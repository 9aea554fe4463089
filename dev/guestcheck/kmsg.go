package guestcheck

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// kernWarning is the level of a warning; what is worse has a lower one.
const kernWarning = 4

// busyHost begins what the kernel warns of when the processor that it runs on was taken away for a while (kernel/time/hrtimer.c).
const busyHost = "hrtimer: interrupt took "

// openKernelLog opens the kernel's log at its end.
func openKernelLog() (int, error) {
	f, err := unix.Open("/dev/kmsg", unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("/dev/kmsg: %w", err)
	}
	if _, err := unix.Seek(f, 0, unix.SEEK_END); err != nil {
		return -1, fmt.Errorf("/dev/kmsg: %w", err)
	}
	return f, nil
}

// kernelWarnings reads on in the kernel's log and returns what is a warning or worse: Documentation/ABI/testing/dev-kmsg.
func kernelWarnings(f int) (said []string, err error) {
	buf := make([]byte, 8192)
	for {
		n, err := unix.Read(f, buf)
		if errors.Is(err, unix.EAGAIN) {
			return said, nil
		}
		if err != nil { // EPIPE: records were lost
			return nil, fmt.Errorf("/dev/kmsg: %w", err)
		}
		var priority uint
		head, text, _ := strings.Cut(string(buf[:n]), ";")
		if _, err := fmt.Sscanf(head, "%d,", &priority); err != nil {
			return nil, fmt.Errorf("/dev/kmsg: %q: %w", head, err)
		}
		text, _, _ = strings.Cut(text, "\n")
		if priority%8 <= kernWarning && !strings.HasPrefix(text, busyHost) {
			said = append(said, text)
		}
	}
}
