package loopmount

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// killWait is the time that a command has to end after it was killed and its device was aborted.
const killWait = 20 * time.Second

// debianPackage maps each program to its Debian package.
var debianPackage = map[string]string{
	"losetup": "mount",
	"mount":   "mount",
	"partx":   "util-linux",
	"umount":  "mount",
	"sh":      "dash",
}

// A TimeoutError says that a command did not end in time. The device was aborted, so that all
// further requests to it fail. The caller can only call Close.
type TimeoutError struct {
	Command string
	After   time.Duration
	Stuck   bool // the command still runs after the abort
}

func (e *TimeoutError) Error() string {
	s := fmt.Sprintf("%s: still running after %v; the device was aborted",
		e.Command, e.After.Round(time.Millisecond))
	if e.Stuck {
		s += ", and the command still hangs"
	}
	return s
}

// command runs a program and returns its output. If ctx ends first, command kills the program and
// its children, and calls abort, because the kernel cannot end a process that waits for the device.
// The error is then a *TimeoutError.
func command(ctx context.Context, abort func() error, env []string, name string, args ...string) (
	[]byte, error,
) {
	var out bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Env = append(os.Environ(), env...)
	cmd.WaitDelay = time.Second
	// Make a process group, so that Kill reaches all children.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	text := strings.Join(cmd.Args, " ")
	start := time.Now()
	if err := cmd.Start(); errors.Is(err, exec.ErrNotFound) {
		return nil, fmt.Errorf("%s not found: install the Debian package %s", name, debianPackage[name])
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	var waitErr error // set when ended is closed
	ended := make(chan struct{})
	go func() {
		waitErr = cmd.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		if waitErr != nil {
			return out.Bytes(), fmt.Errorf("%s: %w: %s", text, waitErr, bytes.TrimSpace(out.Bytes()))
		}
		return out.Bytes(), nil
	case <-ctx.Done():
	}
	timeout := &TimeoutError{Command: text, After: time.Since(start)}
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // the program may have ended already
	abortErr := abort()
	select {
	case <-ended:
	case <-time.After(killWait):
		timeout.Stuck = true
	}
	return nil, errors.Join(timeout, abortErr)
}
