package agent

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// streams are the files of a command: its standard streams, and the report of RunPrefix. They are
// files in memory and not pipes, because a process that the command leaves running would hold a
// pipe open.
type streams struct{ in, out, err, report memoryFile }

// openStreams opens the files. input is the command's standard input.
func openStreams(input []byte) (s *streams, err error) {
	s = &streams{}
	for _, m := range [...]*memoryFile{&s.in, &s.out, &s.err, &s.report} {
		if m.File, err = openMemoryFile(); err != nil {
			s.close()
			return nil, err
		}
	}
	if _, err = s.in.WriteAt(input, 0); err == nil {
		err = errors.Join(s.out.limit(), s.err.limit())
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *streams) close() {
	for _, m := range [...]memoryFile{s.in, s.out, s.err, s.report} {
		if m.File != nil {
			_ = m.Close()
		}
	}
}

// command returns the command with these files. The command gets its own process group, so that the
// agent can kill it together with the processes that it starts.
func (s *streams) command(c *Command) *exec.Cmd {
	args, env := prefixed(c), append(os.Environ(), c.Env...)
	if c.Faults != nil {
		args = failingArgs(args)
	} else {
		args = withoutShell(args, env)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = env
	cmd.Dir = "/"
	if c.Dir != "" {
		cmd.Dir = c.Dir
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.in.File, s.out.File, s.err.File
	if c.Prefix != nil {
		cmd.ExtraFiles = []*os.File{s.report.File}
	}
	return cmd
}

// A memoryFile is a file in memory, without a name: memfd_create(2).
type memoryFile struct{ *os.File }

func openMemoryFile() (*os.File, error) {
	fd, err := unix.MemfdCreate("fsagent", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "fsagent"), nil
}

// limit sets the size of the file to MaxData bytes and seals it. A write past the end then fails
// with EPERM. The limit is there because a guest has little memory.
func (m memoryFile) limit() error {
	if err := m.Truncate(MaxData); err != nil {
		return err
	}
	_, err := unix.FcntlInt(m.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_GROW|unix.F_SEAL_SHRINK)
	return err
}

// written returns the bytes that a command has written: those before the file offset.
func (m memoryFile) written() ([]byte, error) {
	end, err := m.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, err
	}
	b := make([]byte, min(end, MaxData))
	n, err := m.ReadAt(b, 0)
	return b[:n], err
}
