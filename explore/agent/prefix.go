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
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// A Prefix ends a command, with all that it has started, at a system call: a crash of a program whose kernel goes on.
type Prefix struct {
	At    string // calls that change what is below this directory count
	Calls uint64 // so many are done; the next one is not, and nothing after it
}

// maxCalls bounds the system calls that an Exit tells of.
const maxCalls = 4096

// PrefixArg is the first argument of the agent's program when it is to end a command at a system call.
const PrefixArg = "prefix"

// prefixed is the command line that has a command end by its Prefix; what is told of it comes through file descriptor 3.
func prefixed(c *Command) []string {
	if c.Prefix == nil {
		return c.Args
	}
	return append([]string{"/proc/self/exe", PrefixArg, c.Prefix.At, strconv.FormatUint(c.Prefix.Calls, 10)}, c.Args...)
}

// RunPrefix runs a command up to a system call, with the arguments that come after PrefixArg, and returns its exit status. What is told goes to
// a file: the names of the calls that were done, each in a line, and one that says whether it was ended.
func RunPrefix(args []string, tell io.Writer) (status int, err error) {
	if len(args) < 3 {
		return 0, errors.New("a directory, a number and a command are wanted")
	}
	limit, err := strconv.ParseUint(args[1], 10, 64)
	if err != nil {
		return 0, err
	}
	runtime.LockOSThread() // whoever traces is a thread
	t := tracer{at: path.Clean(args[0]), limit: limit, inside: make(map[int]bool)}
	cmd := exec.Command(args[2], args[3:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	status, err = t.follow(cmd.Process.Pid)
	_, e := fmt.Fprintf(tell, "%s%t\n", t.told.String(), t.cut)
	return status, errors.Join(err, e)
}

// tracer counts the system calls of a tree of processes, and ends them.
type tracer struct {
	at     string
	limit  uint64
	done   uint64
	told   bytes.Buffer
	cut    bool
	inside map[int]bool // by thread: it is in a system call
}

// follow traces a process that has just been started, and what it starts, until all have ended.
func (t *tracer) follow(root int) (status int, err error) {
	var ws unix.WaitStatus
	if _, err := unix.Wait4(root, &ws, unix.WALL, nil); err != nil {
		return 0, err
	}
	err = unix.PtraceSetOptions(root, unix.PTRACE_O_TRACESYSGOOD|unix.PTRACE_O_TRACEFORK|unix.PTRACE_O_TRACEVFORK|unix.PTRACE_O_TRACECLONE|
		unix.PTRACE_O_TRACEEXEC|unix.PTRACE_O_EXITKILL)
	if err != nil {
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

// exitStatus is that of a shell.
func exitStatus(ws unix.WaitStatus) int {
	if ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return ws.ExitStatus()
}

// stopped looks at a thread that is about to do a system call, or has done one.
func (t *tracer) stopped(pid int) error {
	if t.inside[pid] = !t.inside[pid]; !t.inside[pid] {
		return nil
	}
	var regs unix.PtraceRegs
	if err := unix.PtraceGetRegs(pid, &regs); err != nil {
		if errors.Is(err, unix.ESRCH) { // it was killed
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
			_ = unix.Kill(p, unix.SIGKILL) // it may have ended
		}
		return nil
	}
	if t.done++; t.done <= maxCalls {
		fmt.Fprintln(&t.told, name)
	}
	return nil
}

// What of a system call says where it changes something.
const (
	byPath   = iota + 1 // first argument: a path
	byAt                // first two: a directory and a path
	byPaths             // first and second: paths
	byAts               // first four: a directory and a path, twice
	byLink              // second: a path
	byLinkAt            // second and third: a directory and a path
	byFile              // first: an open file
	byTarget            // third: an open file
	byOpen              // path, flags
	byOpenAt            // directory, path, flags
	byHow               // directory, path, struct open_how
)

// changing are the system calls of amd64 that change a file system.
var changing = map[uint64]struct {
	name string
	by   int
}{
	unix.SYS_WRITE: {"write", byFile}, unix.SYS_PWRITE64: {"pwrite", byFile}, unix.SYS_WRITEV: {"writev", byFile}, unix.SYS_PWRITEV: {"pwritev", byFile},
	unix.SYS_PWRITEV2: {"pwritev2", byFile}, unix.SYS_SENDFILE: {"sendfile", byFile}, unix.SYS_SPLICE: {"splice", byTarget},
	unix.SYS_COPY_FILE_RANGE: {"copy_file_range", byTarget}, unix.SYS_FTRUNCATE: {"ftruncate", byFile}, unix.SYS_FALLOCATE: {"fallocate", byFile},
	unix.SYS_FCHMOD: {"fchmod", byFile}, unix.SYS_FCHOWN: {"fchown", byFile}, unix.SYS_FSETXATTR: {"fsetxattr", byFile}, unix.SYS_FREMOVEXATTR: {"fremovexattr", byFile},
	unix.SYS_TRUNCATE: {"truncate", byPath}, unix.SYS_MKDIR: {"mkdir", byPath}, unix.SYS_MKDIRAT: {"mkdir", byAt}, unix.SYS_RMDIR: {"rmdir", byPath},
	unix.SYS_UNLINK: {"unlink", byPath}, unix.SYS_UNLINKAT: {"unlink", byAt}, unix.SYS_RENAME: {"rename", byPaths}, unix.SYS_RENAMEAT: {"rename", byAts},
	unix.SYS_RENAMEAT2: {"rename", byAts}, unix.SYS_LINK: {"link", byPaths}, unix.SYS_LINKAT: {"link", byAts}, unix.SYS_SYMLINK: {"symlink", byLink},
	unix.SYS_SYMLINKAT: {"symlink", byLinkAt}, unix.SYS_CHMOD: {"chmod", byPath}, unix.SYS_FCHMODAT: {"chmod", byAt}, unix.SYS_CHOWN: {"chown", byPath},
	unix.SYS_LCHOWN: {"chown", byPath}, unix.SYS_FCHOWNAT: {"chown", byAt}, unix.SYS_MKNOD: {"mknod", byPath}, unix.SYS_MKNODAT: {"mknod", byAt},
	unix.SYS_SETXATTR: {"setxattr", byPath}, unix.SYS_LSETXATTR: {"setxattr", byPath}, unix.SYS_REMOVEXATTR: {"removexattr", byPath},
	unix.SYS_LREMOVEXATTR: {"removexattr", byPath}, unix.SYS_OPEN: {"open", byOpen}, unix.SYS_OPENAT: {"open", byOpenAt}, unix.SYS_OPENAT2: {"open", byHow},
	unix.SYS_CREAT: {"open", byPath},
}

// counts tells whether a system call may change what is below t.at.
func (t *tracer) counts(pid int, r *unix.PtraceRegs) (name string, counts bool) {
	c, is := changing[r.Orig_rax]
	if !is {
		return "", false
	}
	const makes = unix.O_CREAT | unix.O_TRUNC
	cwd := int64(unix.AT_FDCWD)
	switch c.by {
	case byPath:
		counts = t.below(pid, cwd, r.Rdi)
	case byAt:
		counts = t.below(pid, int64(int32(r.Rdi)), r.Rsi)
	case byPaths:
		counts = t.below(pid, cwd, r.Rdi) || t.below(pid, cwd, r.Rsi)
	case byAts:
		counts = t.below(pid, int64(int32(r.Rdi)), r.Rsi) || t.below(pid, int64(int32(r.Rdx)), r.R10)
	case byLink:
		counts = t.below(pid, cwd, r.Rsi)
	case byLinkAt:
		counts = t.below(pid, int64(int32(r.Rsi)), r.Rdx)
	case byFile:
		counts = t.within(link(pid, int64(int32(r.Rdi))))
	case byTarget:
		counts = t.within(link(pid, int64(int32(r.Rdx))))
	case byOpen:
		counts = r.Rsi&makes != 0 && t.below(pid, cwd, r.Rdi)
	case byOpenAt:
		counts = r.Rdx&makes != 0 && t.below(pid, int64(int32(r.Rdi)), r.Rsi)
	case byHow:
		var flags [8]byte
		counts = peek(pid, r.Rdx, flags[:]) == len(flags) && binary.LittleEndian.Uint64(flags[:])&makes != 0 && t.below(pid, int64(int32(r.Rdi)), r.Rsi)
	}
	return c.name, counts
}

// below tells whether a path, in the memory of a process, from one of its directories, is below t.at. Symbolic links in it are not followed.
func (t *tracer) below(pid int, dir int64, addr uint64) bool {
	b := make([]byte, MaxPath)
	b = b[:peek(pid, addr, b)]
	p, _, ok := bytes.Cut(b, []byte{0})
	if !ok {
		return false
	}
	if len(p) > 0 && p[0] == '/' {
		return t.within(path.Clean(string(p)))
	}
	return t.within(path.Join(link(pid, dir), string(p)))
}

func (t *tracer) within(p string) bool {
	return p == t.at || strings.HasPrefix(p, strings.TrimSuffix(t.at, "/")+"/")
}

// link is what an open file of a process, or its directory, is called; "" if it is none.
func link(pid int, fd int64) string {
	name := fmt.Sprintf("/proc/%d/fd/%d", pid, fd)
	if fd == unix.AT_FDCWD {
		name = fmt.Sprintf("/proc/%d/cwd", pid)
	}
	p, err := os.Readlink(name)
	if err != nil {
		return ""
	}
	return p
}

// peek reads memory of a process, as much of it as is there.
func peek(pid int, addr uint64, b []byte) int {
	f, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return 0
	}
	defer f.Close()
	n, _ := f.ReadAt(b, int64(addr)) // to the end of what is mapped
	return n
}
