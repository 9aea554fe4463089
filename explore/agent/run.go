package agent

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// killPatience is how long run waits for the processes of a command to end after it has killed
// them. A process in an uninterruptible system call does not end. On an emulated processor of a
// busy host others need seconds.
const killPatience = 10 * time.Second

// run runs a command. It fails if it cannot start the command or cannot read its output; a command
// that fails is not an error.
func run(c *Command) (e Exit, err error) {
	s, err := openStreams(c.Stdin)
	if err != nil {
		return e, err
	}
	defer s.close()
	kernel := openKernelLog()
	defer func() { e.Kernel = kernel.end() }()
	if err := e.follow(c, s.command(c)); err != nil {
		return e, err
	}
	if e.Stdout, err = s.out.written(); err != nil {
		return e, err
	}
	if e.Stderr, err = s.err.written(); err == nil && c.Prefix != nil && !e.TimedOut {
		err = e.setPrefix(s.report)
	}
	return e, err
}

// follow runs a command to its end, with its Faults, and sets the status and the hits.
func (e *Exit) follow(c *Command, cmd *exec.Cmd) error {
	var f failing
	if c.Faults != nil {
		if err := f.open(c.Faults); err != nil {
			return err
		}
	}
	err := cmd.Start()
	if err == nil && c.Faults != nil {
		if err = f.failStarted(cmd.Process.Pid); err != nil {
			_, _ = wait(cmd, 0) // it kills the command
		}
	}
	if err == nil {
		e.TimedOut, err = wait(cmd, c.Timeout)
		err = e.setStatus(err)
	}
	if c.Faults != nil {
		hits, failed := f.end()
		e.Hits, err = EncodeHits(hits), errors.Join(err, failed)
	}
	return err
}

// wait waits for a command to end, for at most timeout. Then it kills the command's process group.
// err is the error of exec.Cmd.Wait; nil if a process of the group goes on although it was killed.
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
	end := time.After(killPatience)
	for {
		select {
		case err = <-ended:
			ended = nil
		case <-end:
			return true, nil
		case <-time.After(killPoll):
		}
		if ended == nil && !groupRuns(cmd.Process.Pid) {
			return true, err
		}
	}
}

// killPoll is the time between two looks at the processes that were killed.
const killPoll = 20 * time.Millisecond

// groupRuns reports whether a process group has a process that has not ended. One that has ended
// and waits for its parent (a zombie) has no code left to run.
func groupRuns(group int) bool {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	return slices.ContainsFunc(files, func(file string) bool {
		b, err := os.ReadFile(file)
		if err != nil { // it has ended
			return false
		}
		var state string
		var parent, of int
		text := string(b) // PID (NAME) STATE PARENT GROUP …: NAME can have any bytes
		_, err = fmt.Sscan(text[strings.LastIndexByte(text, ')')+1:], &state, &parent, &of)
		return err == nil && of == group && state != "Z" && state != "X"
	})
}

// setStatus sets Code and Signal from the error of exec.Cmd.Wait. It returns the error if it does
// not describe how the command ended.
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

// setPrefix sets Calls and Cut from the report of RunPrefix.
func (e *Exit) setPrefix(report memoryFile) error {
	b, err := report.written()
	if err != nil {
		return err
	}
	text, ok := strings.CutSuffix(string(b), "true\n")
	if e.Calls, e.Cut = text, ok; !ok {
		e.Calls, ok = strings.CutSuffix(string(b), "false\n")
	}
	if !ok {
		return fmt.Errorf("the agent could not trace the command: %s", e.Stderr)
	}
	return nil
}
