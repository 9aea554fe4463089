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

// killWait is how long a command that was killed, and whose device was aborted, may take to be gone.
const killWait = 20 * time.Second

// debianPackage names the package of each program that is run.
var debianPackage = map[string]string{"losetup": "mount", "mount": "mount", "umount": "mount", "sh": "dash"}

// TimeoutError is a command that did not end in time. The device was aborted: its file system answers
// every request with an I/O error from then on, and what is left to do is Close.
type TimeoutError struct {
	Command string
	After   time.Duration
	Stuck   bool // it did not end after that either
}

func (e *TimeoutError) Error() string {
	s := fmt.Sprintf("%s: no end after %v; the device was aborted", e.Command, e.After.Round(time.Millisecond))
	if e.Stuck {
		s += ", and the command still hangs"
	}
	return s
}

// command runs a program and returns what it printed. When ctx ends first, the program and its children
// are killed and abort is called, without which a process that waits for the device cannot die.
func command(ctx context.Context, abort func() error, env []string, name string, args ...string) ([]byte, error) {
	var out bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Env = append(os.Environ(), env...)
	cmd.WaitDelay = time.Second
	// A group of its own, so that all of it can be killed.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	text := strings.Join(cmd.Args, " ")
	start := time.Now()
	if err := cmd.Start(); errors.Is(err, exec.ErrNotFound) {
		return nil, fmt.Errorf("%s is not there: install the Debian package %s", name, debianPackage[name])
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
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it may just have ended
	abortErr := abort()
	select {
	case <-ended:
	case <-time.After(killWait):
		timeout.Stuck = true
	}
	return nil, errors.Join(timeout, abortErr)
}
