package agent

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// A place says which arguments of a system call name the file that it changes.
type place int

const (
	byPath   place = iota + 1 // 1st: a path
	byAt                      // 1st and 2nd: a directory and a path
	byPaths                   // 1st and 2nd: two paths
	byAts                     // 1st to 4th: a directory and a path, twice
	byLink                    // 2nd: a path
	byLinkAt                  // 2nd and 3rd: a directory and a path
	byFile                    // 1st: an open file
	byTarget                  // 3rd: an open file
	byOpen                    // 1st and 2nd: a path and flags
	byOpenAt                  // 1st to 3rd: a directory, a path and flags
	byHow                     // 1st to 3rd: a directory, a path and a struct open_how
)

// changing are the system calls of amd64 that change a file system.
var changing = map[uint64]struct {
	name  string
	place place
}{
	unix.SYS_WRITE:           {"write", byFile},
	unix.SYS_PWRITE64:        {"pwrite", byFile},
	unix.SYS_WRITEV:          {"writev", byFile},
	unix.SYS_PWRITEV:         {"pwritev", byFile},
	unix.SYS_PWRITEV2:        {"pwritev2", byFile},
	unix.SYS_SENDFILE:        {"sendfile", byFile},
	unix.SYS_SPLICE:          {"splice", byTarget},
	unix.SYS_COPY_FILE_RANGE: {"copy_file_range", byTarget},
	unix.SYS_FTRUNCATE:       {"ftruncate", byFile},
	unix.SYS_FALLOCATE:       {"fallocate", byFile},
	unix.SYS_FCHMOD:          {"fchmod", byFile},
	unix.SYS_FCHOWN:          {"fchown", byFile},
	unix.SYS_FSETXATTR:       {"fsetxattr", byFile},
	unix.SYS_FREMOVEXATTR:    {"fremovexattr", byFile},
	unix.SYS_TRUNCATE:        {"truncate", byPath},
	unix.SYS_MKDIR:           {"mkdir", byPath},
	unix.SYS_MKDIRAT:         {"mkdir", byAt},
	unix.SYS_RMDIR:           {"rmdir", byPath},
	unix.SYS_UNLINK:          {"unlink", byPath},
	unix.SYS_UNLINKAT:        {"unlink", byAt},
	unix.SYS_RENAME:          {"rename", byPaths},
	unix.SYS_RENAMEAT:        {"rename", byAts},
	unix.SYS_RENAMEAT2:       {"rename", byAts},
	unix.SYS_LINK:            {"link", byPaths},
	unix.SYS_LINKAT:          {"link", byAts},
	unix.SYS_SYMLINK:         {"symlink", byLink},
	unix.SYS_SYMLINKAT:       {"symlink", byLinkAt},
	unix.SYS_CHMOD:           {"chmod", byPath},
	unix.SYS_FCHMODAT:        {"chmod", byAt},
	unix.SYS_CHOWN:           {"chown", byPath},
	unix.SYS_LCHOWN:          {"chown", byPath},
	unix.SYS_FCHOWNAT:        {"chown", byAt},
	unix.SYS_MKNOD:           {"mknod", byPath},
	unix.SYS_MKNODAT:         {"mknod", byAt},
	unix.SYS_SETXATTR:        {"setxattr", byPath},
	unix.SYS_LSETXATTR:       {"setxattr", byPath},
	unix.SYS_REMOVEXATTR:     {"removexattr", byPath},
	unix.SYS_LREMOVEXATTR:    {"removexattr", byPath},
	unix.SYS_OPEN:            {"open", byOpen},
	unix.SYS_OPENAT:          {"open", byOpenAt},
	unix.SYS_OPENAT2:         {"open", byHow},
	unix.SYS_CREAT:           {"open", byPath},
}

// counts returns the name of the system call that a thread is about to do, and reports whether the
// call may change a file below t.at. An open counts only if it can create or truncate a file.
func (t *tracer) counts(pid int, r *unix.PtraceRegs) (name string, counts bool) {
	call, known := changing[r.Orig_rax]
	if !known {
		return "", false
	}
	const changes = unix.O_CREAT | unix.O_TRUNC
	cwd := int64(unix.AT_FDCWD)
	fd := func(register uint64) int64 { return int64(int32(register)) }
	switch call.place {
	case byPath:
		counts = t.below(pid, cwd, r.Rdi)
	case byAt:
		counts = t.below(pid, fd(r.Rdi), r.Rsi)
	case byPaths:
		counts = t.below(pid, cwd, r.Rdi) || t.below(pid, cwd, r.Rsi)
	case byAts:
		counts = t.below(pid, fd(r.Rdi), r.Rsi) || t.below(pid, fd(r.Rdx), r.R10)
	case byLink:
		counts = t.below(pid, cwd, r.Rsi)
	case byLinkAt:
		counts = t.below(pid, fd(r.Rsi), r.Rdx)
	case byFile:
		counts = t.within(link(pid, fd(r.Rdi)))
	case byTarget:
		counts = t.within(link(pid, fd(r.Rdx)))
	case byOpen:
		counts = r.Rsi&changes != 0 && t.below(pid, cwd, r.Rdi)
	case byOpenAt:
		counts = r.Rdx&changes != 0 && t.below(pid, fd(r.Rdi), r.Rsi)
	case byHow:
		var flags [8]byte // the first field of struct open_how
		counts = peek(pid, r.Rdx, flags[:]) == len(flags) &&
			binary.LittleEndian.Uint64(flags[:])&changes != 0 && t.below(pid, fd(r.Rdi), r.Rsi)
	}
	return call.name, counts
}

// below reports whether a path is below t.at. The path stands in the memory of the process, at
// addr, and is relative to the open directory dir or to AT_FDCWD. below does not follow symbolic
// links.
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

// within reports whether an absolute path is t.at or below it.
func (t *tracer) within(p string) bool {
	return p == t.at || strings.HasPrefix(p, strings.TrimSuffix(t.at, "/")+"/")
}

// link returns the path of an open file of a process, or of its working directory for AT_FDCWD. It
// returns "" if the file is not open.
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

// peek reads memory of a process into b, up to the end of the mapped memory, and returns the number
// of bytes.
func peek(pid int, addr uint64, b []byte) int {
	f, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return 0
	}
	defer f.Close()
	n, _ := f.ReadAt(b, int64(addr)) // fails at the end of the mapped memory
	return n
}
