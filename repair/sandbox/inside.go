package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Inside reports whether this process is a Box, and has to call Main.
func Inside() bool { return len(os.Args) == 4 && os.Args[0] == argv0 }

// Main serves the requests of the process that started the Box, and ends with the last one. It is
// the first process of its PID namespace, so that the kernel ends every other with it.
func Main() {
	// The capabilities that confine drops are those of this thread, and every program is a child of
	// the thread.
	runtime.LockOSThread()
	enc := json.NewEncoder(os.Stdout)
	work, err := strconv.ParseUint(os.Args[1], 10, 64)
	if err == nil {
		err = confine(work, os.Args[2] != "0", os.Args[3])
	}
	var first reply
	if err != nil {
		first.Problem = err.Error()
	}
	if enc.Encode(first) != nil || err != nil {
		os.Exit(1)
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, unix.SIGTERM) // of Box.Stop
	go func() {
		for range stop {
			killAll()
		}
	}()
	commands := make(chan Command)
	go receive(commands)
	for c := range commands {
		if err := enc.Encode(run(c)); err != nil {
			return
		}
	}
}

// receive passes on the requests. If the process that sends them is done, or was killed, it ends
// this one, also while a program runs.
func receive(commands chan<- Command) {
	dec := json.NewDecoder(os.Stdin)
	for {
		var c Command
		if err := dec.Decode(&c); err != nil {
			os.Exit(0)
		}
		commands <- c
	}
}

// run runs one program, and then ends all processes that it left behind.
func run(c Command) (r reply) {
	path, err := exec.LookPath(c.Argv[0])
	if err != nil {
		return reply{Problem: err.Error()}
	}
	read, write, err := os.Pipe()
	if err != nil {
		return reply{Problem: err.Error()}
	}
	defer read.Close()
	stdin, closeStdin, err := input(c)
	if err != nil {
		return reply{Problem: err.Error()}
	}
	defer closeStdin()
	cmd := exec.Cmd{Path: path, Args: c.Argv, Stdin: stdin,
		Env: c.Env, Dir: Work, Stdout: write, Stderr: write,
		SysProcAttr: &syscall.SysProcAttr{Ptrace: true}} // it stops before its first instruction
	start := time.Now()
	err = cmd.Start()
	_ = write.Close()
	if err != nil {
		return reply{Problem: err.Error()}
	}
	if err := bound(cmd.Process.Pid, c); err != nil {
		killAll()
		_ = cmd.Wait()
		return reply{Problem: err.Error()}
	}
	output := make(chan collected, 1)
	go func() { output <- collect(read, c.OutputBytes) }()
	ended, tooLong := make(chan struct{}), make(chan bool, 1)
	go func() { tooLong <- watch(cmd.Process.Pid, c.Time, ended) }()
	waitErr := cmd.Wait()
	r.Took = time.Since(start)
	close(ended)
	r.TimedOut = <-tooLong
	killAll()
	reap()
	got := <-output
	r.Out, r.Flooded = got.output, got.flooded
	r.Status = cmd.ProcessState.ExitCode()
	r.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	var exit *exec.ExitError
	if waitErr != nil && !errors.As(waitErr, &exit) {
		return reply{Problem: waitErr.Error()}
	}
	if !r.TimedOut && !r.Flooded {
		r.Signal, r.TimedOut = signaled(cmd.ProcessState, c.Time)
	}
	return r
}

// maxWait bounds the time that a program may wait for a processor, in times of its own.
const maxWait = 20

// watch ends all programs when one has had its time, and reports that. The time for which the
// program waited for a processor does not count, so that a busy machine makes no program look as if
// it hung.
func watch(pid int, most time.Duration, ended <-chan struct{}) bool {
	start := time.Now()
	for left := most; left > 0; {
		select {
		case <-ended:
			return false
		case <-time.After(left):
		}
		left = most - time.Since(start) + min(waited(pid), maxWait*most)
	}
	killAll()
	return true
}

// waited returns for how long a process was ready to run, and had no processor. It is 0 if that is
// not known.
func waited(pid int) time.Duration {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "schedstat"))
	if err != nil {
		return 0
	}
	// "time on a processor, time waiting, slices", in nanoseconds: Documentation/scheduler/sched-stats
	var ran, waits int64
	if n, err := fmt.Sscan(string(text), &ran, &waits); n != 2 || err != nil {
		return 0
	}
	return time.Duration(waits)
}

// signaled returns the signal that ended a program, or reports that it used too much time.
func signaled(state *os.ProcessState, most time.Duration) (signal string, tooLong bool) {
	ws, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !ws.Signaled() {
		return "", false
	}
	// SIGXCPU is the kernel's answer to too much processor time, and SIGKILL to still more. Several
	// threads can use it in less than the time of the timer. The kernel counts it by ticks, and may
	// have counted more than the state says.
	if ws.Signal() == unix.SIGXCPU ||
		ws.Signal() == unix.SIGKILL && state.UserTime()+state.SystemTime() >= most {
		return "", true
	}
	return unix.SignalName(ws.Signal()), false
}

// input returns the stdin of a command, which the caller closes after the command has started.
func input(c Command) (io.Reader, func(), error) {
	if c.Socket == "" {
		return strings.NewReader(c.Input), func() {}, nil
	}
	f, err := connect(filepath.Join(Work, c.Socket))
	if err != nil {
		return nil, nil, err
	}
	return f, func() { _ = f.Close() }, nil
}

// bound sets the bounds that the kernel keeps on a program that stopped before its first
// instruction, and lets it run.
func bound(pid int, c Command) error {
	if _, err := unix.Wait4(pid, nil, 0, nil); err != nil {
		return fmt.Errorf("waiting for the program to stop: %w", err)
	}
	seconds := uint64(c.Time/time.Second) + 1
	limit := func(resource int, soft, hard uint64) error {
		return unix.Prlimit(pid, resource, &unix.Rlimit{Cur: soft, Max: hard}, nil)
	}
	err := limit(unix.RLIMIT_CPU, seconds, seconds+1)
	if n := c.MemoryBytes; n > 0 {
		err = errors.Join(err, limit(unix.RLIMIT_AS, n, n))
	}
	if n := c.FileBytes; n > 0 { // xfs_repair fails if it cannot raise it
		err = errors.Join(err, limit(unix.RLIMIT_FSIZE, n, unix.RLIM_INFINITY))
	}
	return errors.Join(err, unix.PtraceDetach(pid))
}

type collected struct {
	output  []byte
	flooded bool
}

// collect reads the output of a program. If there is more than limit, it ends the program.
func collect(r io.Reader, limit int) collected {
	out, err := io.ReadAll(io.LimitReader(r, int64(limit)))
	if err != nil || len(out) < limit {
		return collected{out, false}
	}
	if n, _ := io.ReadFull(r, make([]byte, 1)); n == 0 {
		return collected{out, false}
	}
	killAll()
	_, _ = io.Copy(io.Discard, r)
	return collected{out, true}
}

// killAll ends all processes of the namespace but this one, which is its first.
func killAll() { _ = unix.Kill(-1, unix.SIGKILL) }

// reap waits until all processes that killAll ended are gone.
func reap() {
	for {
		if _, err := unix.Wait4(-1, nil, 0, nil); err != nil && !errors.Is(err, unix.EINTR) {
			return // there is no child
		}
	}
}

// connect connects with the socket of the process that started the box.
func connect(path string) (*os.File, error) {
	conn, err := net.Dial("unix", path)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return conn.(*net.UnixConn).File()
}
