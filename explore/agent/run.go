package agent

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// killPatience is how long run waits for a command that it has killed. A command that the kernel holds does not end.
const killPatience = 500 * time.Millisecond

// run runs a command. An error means that the command could not be started, or that its output could not be read.
func run(c *Command) (e Exit, err error) {
	s, err := openStreams(c.Stdin)
	if err != nil {
		return e, err
	}
	defer s.close()
	cmd := s.command(c)
	kernel := openKernelLog()
	defer func() { e.Kernel = kernel.end() }()
	if err := cmd.Start(); err != nil {
		return e, err
	}
	e.TimedOut, err = wait(cmd, c.Timeout)
	if err = e.setStatus(err); err != nil {
		return e, err
	}
	if e.Stdout, err = s.out.written(); err != nil {
		return e, err
	}
	if e.Stderr, err = s.err.written(); err == nil && c.Prefix != nil && !e.TimedOut {
		err = e.setPrefix(s.told)
	}
	return e, err
}

// wait waits for a command to end. When its time is up it kills the command's process group.
func wait(cmd *exec.Cmd, timeout time.Duration) (timedOut bool, err error) {
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case err = <-ended:
		return false, err
	case <-timer.C:
	}
	if err := unix.Kill(-cmd.Process.Pid, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
		return true, err
	}
	select {
	case err = <-ended:
	case <-time.After(killPatience):
	}
	return true, err
}

// setStatus sets how the command ended, from the error of exec.Cmd.Wait. It returns an error that is not the command's.
func (e *Exit) setStatus(err error) error {
	e.Code = -1
	var status *exec.ExitError
	switch {
	case errors.As(err, &status):
		if w, ok := status.Sys().(syscall.WaitStatus); ok && w.Signaled() {
			e.Signal = w.Signal()
		} else {
			e.Code = status.ExitCode()
		}
		return nil
	case err == nil && !e.TimedOut:
		e.Code = 0
	}
	return err
}

// setPrefix takes the report of RunPrefix.
func (e *Exit) setPrefix(report memory) error {
	b, err := report.written()
	if err != nil {
		return err
	}
	text, ok := strings.CutSuffix(string(b), "true\n")
	if e.Calls, e.Cut = text, ok; !ok {
		e.Calls, ok = strings.CutSuffix(string(b), "false\n")
	}
	if !ok {
		return fmt.Errorf("the command was not followed: %s", e.Stderr)
	}
	return nil
}
