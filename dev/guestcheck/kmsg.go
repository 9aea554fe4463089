package guestcheck

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// kernWarning is the level of a warning (KERN_WARNING). More severe messages have a lower level.
const kernWarning = 4

// busyHost is the beginning of the kernel's warning after the host has taken away its processor for
// a while (kernel/time/hrtimer.c).
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

// kernelWarnings reads the new messages of the kernel's log and returns the warnings and more
// severe ones, except busyHost. It fails if the kernel has overwritten unread messages. See
// Documentation/ABI/testing/dev-kmsg.
func kernelWarnings(f int) (warnings []string, err error) {
	buf := make([]byte, 8192)
	for {
		n, err := unix.Read(f, buf)
		if errors.Is(err, unix.EAGAIN) {
			return warnings, nil
		}
		if err != nil { // EPIPE: unread messages were overwritten
			return nil, fmt.Errorf("/dev/kmsg: %w", err)
		}
		var priority uint
		head, text, _ := strings.Cut(string(buf[:n]), ";")
		if _, err := fmt.Sscanf(head, "%d,", &priority); err != nil {
			return nil, fmt.Errorf("/dev/kmsg: %q: %w", head, err)
		}
		text, _, _ = strings.Cut(text, "\n")
		if priority%8 <= kernWarning && !strings.HasPrefix(text, busyHost) {
			warnings = append(warnings, text)
		}
	}
}
