package main

import (
	"fmt"
	"os/exec"

	"golang.org/x/sys/unix"
)

// calls runs commands as system calls of this process.
type calls struct{ *worker }

func (c calls) mkdir(path string) error { return unix.Mkdir(path, 0o755) }

func (c calls) create(path string, size int64) error {
	return c.open(path, unix.O_CREAT|unix.O_EXCL, func(fd int) error {
		_, err := unix.Write(fd, c.text(size))
		return err
	})
}

func (c calls) resize(path string, size int64) error { return unix.Truncate(path, size) }

func (c calls) rewrite(path string, off, size int64) error {
	return c.open(path, 0, func(fd int) error {
		_, err := unix.Pwrite(fd, c.text(size), off)
		return err
	})
}

func (c calls) remove(path string) error { return unix.Unlink(path) }

// programs runs each command as a program, as the thesis (5.3) does: mkdir, rm, and dd with various
// options.
type programs struct{}

func (programs) mkdir(path string) error { return program("mkdir", path) }

func (programs) create(path string, size int64) error {
	return program("dd", "if=/dev/urandom", "of="+path, fmt.Sprintf("count=%d", size), "bs=64K",
		"iflag=count_bytes,fullblock", "conv=excl", "status=none")
}

// resize runs dd without input, so that it only truncates the file at its seek position.
func (programs) resize(path string, size int64) error {
	return program("dd", "if=/dev/null", "of="+path, "bs=1", fmt.Sprintf("seek=%d", size),
		"status=none")
}

func (programs) rewrite(path string, off, size int64) error {
	return program("dd", "if=/dev/urandom", "of="+path, fmt.Sprintf("count=%d", size), "bs=64K",
		"iflag=count_bytes,fullblock", fmt.Sprintf("seek=%d", off), "oflag=seek_bytes",
		"conv=notrunc", "status=none")
}

func (programs) remove(path string) error { return program("rm", path) }

// program runs a program. The error includes its output.
func program(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %v: %w: %s", name, args, err, out)
	}
	return nil
}
