package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"fsward/hostd/daemon/fsynccheck"
)

// tracefs is where the kernel's tracing is controlled (Documentation/trace/ftrace.rst).
const tracefs = "/sys/kernel/tracing"

// tracing is an instance of the kernel's tracing. Its buffer, events and clock are its own.
type tracing struct {
	dir  string
	off  map[string]string // events that are not enabled, because their modules are not loaded
	pipe int               // file descriptor of trace_pipe
}

// begin makes the instance and enables the events.
func begin() (*tracing, error) {
	if _, err := os.Stat(tracefs + "/instances"); errors.Is(err, fs.ErrNotExist) {
		if err := unix.Mount("tracefs", tracefs, "tracefs", 0, ""); err != nil {
			return nil, fmt.Errorf("cannot mount tracefs at %s: %w", tracefs, err)
		}
	}
	t := &tracing{dir: tracefs + "/instances/fswcalls", off: make(map[string]string), pipe: -1}
	// The instance of a killed fswcalls can be removed; that of a running one is in use.
	if err := os.Remove(t.dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("another fswcalls runs: %w", err)
	}
	if err := os.Mkdir(t.dir, 0o700); err != nil {
		return nil, err
	}
	for _, name := range fsynccheck.EventNames() {
		t.off[name] = fsynccheck.Events[name]
	}
	err := errors.Join(t.set("trace_clock", "mono"), t.set("buffer_size_kb", "4096"), t.enable())
	if err == nil {
		t.pipe, err = unix.Open(filepath.Join(t.dir, "trace_pipe"),
			unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		return nil, errors.Join(err, t.end())
	}
	return t, nil
}

func (t *tracing) set(file, value string) error {
	return os.WriteFile(filepath.Join(t.dir, file), []byte(value), 0)
}

// enable enables the events that exist and are not enabled yet.
func (t *tracing) enable() error {
	for name, filter := range t.off {
		dir := filepath.Join("events", name)
		if _, err := os.Stat(filepath.Join(t.dir, dir)); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if filter != "" {
			if err := t.set(filepath.Join(dir, "filter"), filter); err != nil {
				return fmt.Errorf("%s: filter %q: %w", name, filter, err)
			}
		}
		if err := t.set(filepath.Join(dir, "enable"), "1"); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		delete(t.off, name)
	}
	return nil
}

// read reads what the kernel has traced; 0 bytes if there is nothing.
func (t *tracing) read(p []byte) (int, error) {
	for {
		n, err := unix.Read(t.pipe, p)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN):
			return 0, nil
		case err != nil:
			return 0, fmt.Errorf("trace_pipe: %w", err)
		default:
			return n, nil
		}
	}
}

// end removes the instance, so that the kernel traces nothing for it.
func (t *tracing) end() error {
	if t.pipe >= 0 {
		_ = unix.Close(t.pipe)
	}
	return os.Remove(t.dir)
}
