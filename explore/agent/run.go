package agent

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// killPatience is how long a command that was killed is waited for. One that the kernel holds does not end.
const killPatience = 500 * time.Millisecond

// outputFile is for what a command writes. A pipe would be held open by what the command leaves running. It takes MaxData
// bytes, and what is written beyond fails with EPERM: a guest has little memory.
func outputFile() (*os.File, error) {
	f, err := memoryFile()
	if err != nil {
		return nil, err
	}
	if err := f.Truncate(MaxData); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if _, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_GROW|unix.F_SEAL_SHRINK); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func memoryFile() (*os.File, error) {
	fd, err := unix.MemfdCreate("fsagent", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "fsagent"), nil
}

// run runs a command. Why it could not be started is an error.
func run(c *Command) (e Exit, err error) {
	args := prefixed(c)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), c.Env...)
	cmd.Dir = "/"
	if c.Dir != "" {
		cmd.Dir = c.Dir
	}
	// Its process group ends with it when the time is up.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := memoryFile()
	if err != nil {
		return e, err
	}
	defer in.Close()
	if _, err := in.WriteAt(c.Stdin, 0); err != nil {
		return e, err
	}
	stdout, err := outputFile()
	if err != nil {
		return e, err
	}
	defer stdout.Close()
	stderr, err := outputFile()
	if err != nil {
		return e, err
	}
	defer stderr.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, stdout, stderr
	told, err := memoryFile()
	if err != nil {
		return e, err
	}
	defer told.Close()
	if c.Prefix != nil {
		cmd.ExtraFiles = []*os.File{told}
	}
	kernel := openKernelLog()
	defer func() { e.Kernel = kernel.end() }()
	if err := cmd.Start(); err != nil {
		return e, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	e.Code = -1
	timer := time.NewTimer(c.Timeout)
	defer timer.Stop()
	select {
	case err = <-ended:
	case <-timer.C:
		e.TimedOut = true
		if err := unix.Kill(-cmd.Process.Pid, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
			return e, err
		}
		select {
		case err = <-ended:
		case <-time.After(killPatience):
		}
	}
	var status *exec.ExitError
	switch {
	case errors.As(err, &status):
		if w, ok := status.Sys().(syscall.WaitStatus); ok && w.Signaled() {
			e.Signal = w.Signal()
		} else {
			e.Code = status.ExitCode()
		}
	case err != nil:
		return e, err
	case !e.TimedOut:
		e.Code = 0
	}
	if e.Stdout, err = written(stdout); err == nil {
		e.Stderr, err = written(stderr)
	}
	if err == nil && c.Prefix != nil && !e.TimedOut {
		err = e.prefix(told)
	}
	return e, err
}

// prefix takes what RunPrefix has told.
func (e *Exit) prefix(told *os.File) error {
	b, err := written(told)
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

// written reads what a command has written: up to the place where it would write on.
func written(f *os.File) ([]byte, error) {
	end, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, err
	}
	b := make([]byte, min(end, MaxData))
	n, err := f.ReadAt(b, 0)
	return b[:n], err
}
