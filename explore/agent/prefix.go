package agent

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// A Prefix kills a command, with all processes that it has started, at a system call: a process
// crash. Only system calls that change files below the directory At count.
type Prefix struct {
	At    string // absolute path
	Calls uint64 // number of calls that are performed; the command dies before the next one
}

// maxCalls bounds the system calls that an Exit names.
const maxCalls = 4096

// PrefixArg is the first argument of the agent's program that makes it run RunPrefix.
const PrefixArg = "prefix"

// prefixed returns the command line that runs a command with its Prefix, if it has one. File
// descriptor 3 of that command line gets the report of RunPrefix.
func prefixed(c *Command) []string {
	if c.Prefix == nil {
		return c.Args
	}
	calls := strconv.FormatUint(c.Prefix.Calls, 10)
	return append([]string{"/proc/self/exe", PrefixArg, c.Prefix.At, calls}, c.Args...)
}

// RunPrefix runs a command up to a system call and returns its exit status. args are the arguments
// after PrefixArg: the directory, the number of calls, and the command. RunPrefix writes a report:
// the names of the counted calls that were performed, a line each, and a line "true" or "false"
// that says whether it killed the command.
func RunPrefix(args []string, report io.Writer) (status int, err error) {
	if len(args) < 3 {
		return 0, errors.New("expected a directory, a number and a command")
	}
	limit, err := strconv.ParseUint(args[1], 10, 64)
	if err != nil {
		return 0, err
	}
	runtime.LockOSThread() // a tracer is a thread, not a process
	t := tracer{at: path.Clean(args[0]), limit: limit, inside: make(map[int]bool)}
	cmd := exec.Command(args[2], args[3:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	status, err = t.follow(cmd.Process.Pid)
	_, e := fmt.Fprintf(report, "%s%t\n", t.names.String(), t.cut)
	return status, errors.Join(err, e)
}

// A tracer counts the system calls of a tree of processes, and kills the processes at the limit.
type tracer struct {
	at     string
	limit  uint64
	done   uint64       // calls that were performed
	names  bytes.Buffer // their names, a line each, the first maxCalls
	cut    bool         // the processes were killed
	inside map[int]bool // by thread: it is in a system call
}

// traceOptions trace the children of a process, and kill all processes when the tracer ends.
const traceOptions = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACEFORK |
	unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEEXEC |
	unix.PTRACE_O_EXITKILL

// follow traces a process that was just started, and its descendants, until all have ended. It
// returns the exit status of the first process.
func (t *tracer) follow(root int) (status int, err error) {
	var ws unix.WaitStatus
	if _, err := unix.Wait4(root, &ws, unix.WALL, nil); err != nil {
		return 0, err
	}
	if err := unix.PtraceSetOptions(root, traceOptions); err != nil {
		return 0, err
	}
	t.inside[root] = false
	for pid, pass := root, 0; ; {
		if pid != 0 && !t.cut {
			if err := unix.PtraceSyscall(pid, pass); err != nil && !errors.Is(err, unix.ESRCH) {
				return 0, err
			}
		}
		pid, err = unix.Wait4(-1, &ws, unix.WALL, nil)
		switch {
		case errors.Is(err, unix.ECHILD):
			return status, nil
		case errors.Is(err, unix.EINTR):
			pid = 0
			continue
		case err != nil:
			return 0, err
		}
		pass = 0
		switch {
		case ws.Exited() || ws.Signaled():
			if pid == root {
				status = exitStatus(ws)
			}
			delete(t.inside, pid)
			pid = 0
		case ws.StopSignal() == unix.SIGTRAP|0x80:
			if err := t.stopped(pid); err != nil {
				return 0, err
			}
		case ws.StopSignal() != unix.SIGTRAP && ws.StopSignal() != unix.SIGSTOP:
			pass = int(ws.StopSignal())
		}
		if _, known := t.inside[pid]; !known && pid != 0 {
			t.inside[pid] = false
		}
	}
}

// exitStatus returns the exit status that a shell would report.
func exitStatus(ws unix.WaitStatus) int {
	if ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return ws.ExitStatus()
}

// stopped handles a thread that enters or leaves a system call. At the call after the limit it
// kills all processes.
func (t *tracer) stopped(pid int) error {
	if t.inside[pid] = !t.inside[pid]; !t.inside[pid] {
		return nil
	}
	regs, err := registers(pid)
	if err != nil {
		if errors.Is(err, unix.ESRCH) { // the thread was killed
			return nil
		}
		return err
	}
	name, counts := t.counts(pid, &regs)
	if !counts {
		return nil
	}
	if t.done >= t.limit {
		t.cut = true
		for p := range t.inside {
			_ = unix.Kill(p, unix.SIGKILL) // the thread may have ended
		}
		return nil
	}
	if t.done++; t.done <= maxCalls {
		fmt.Fprintln(&t.names, name)
	}
	return nil
}

// registers returns the registers of a stopped thread. PTRACE_GETREGS of user-mode Linux is an I/O
// error, and PTRACE_PEEKUSER is not.
func registers(pid int) (regs unix.PtraceRegs, err error) {
	if err = unix.PtraceGetRegs(pid, &regs); errors.Is(err, unix.EIO) {
		err = peekRegisters(pid, &regs)
	}
	return regs, err
}

// peekRegisters reads the registers of a stopped thread, one after the other.
func peekRegisters(pid int, regs *unix.PtraceRegs) error {
	words := make([]byte, binary.Size(regs))
	if _, err := unix.PtracePeekUser(pid, 0, words); err != nil {
		return err
	}
	_, err := binary.Decode(words, binary.NativeEndian, regs)
	return err
}
