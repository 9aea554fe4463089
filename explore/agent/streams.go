package agent

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// streams are the files of a command: standard input and output, and the report of RunPrefix. They are files in memory and not
// pipes: what the command leaves running would hold a pipe open.
type streams struct{ in, out, err, told memory }

// openStreams opens the files. input is what the command reads.
func openStreams(input []byte) (s *streams, err error) {
	s = &streams{}
	for _, m := range [...]*memory{&s.in, &s.out, &s.err, &s.told} {
		if m.File, err = memoryFile(); err != nil {
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
	for _, m := range [...]memory{s.in, s.out, s.err, s.told} {
		if m.File != nil {
			_ = m.Close()
		}
	}
}

// command makes the command with these files. It gets a process group of its own, so that all that it starts can be killed.
func (s *streams) command(c *Command) *exec.Cmd {
	args := prefixed(c)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), c.Env...)
	cmd.Dir = "/"
	if c.Dir != "" {
		cmd.Dir = c.Dir
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.in.File, s.out.File, s.err.File
	if c.Prefix != nil {
		cmd.ExtraFiles = []*os.File{s.told.File}
	}
	return cmd
}

// memory is a file in memory, without a name.
type memory struct{ *os.File }

func memoryFile() (*os.File, error) {
	fd, err := unix.MemfdCreate("fsagent", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "fsagent"), nil
}

// limit makes room for MaxData bytes. Writing more fails with EPERM: a guest has little memory.
func (m memory) limit() error {
	if err := m.Truncate(MaxData); err != nil {
		return err
	}
	_, err := unix.FcntlInt(m.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_GROW|unix.F_SEAL_SHRINK)
	return err
}

// written reads what a command has written: up to the place where it would write on.
func (m memory) written() ([]byte, error) {
	end, err := m.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, err
	}
	b := make([]byte, min(end, MaxData))
	n, err := m.ReadAt(b, 0)
	return b[:n], err
}
