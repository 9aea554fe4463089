package vm

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"time"
)

// Bounds of what is kept of a guest's console, which may write as much as it likes.
const (
	maxConsole = 64 << 20
	maxLine    = 4096
)

// console is the serial port of a domain. QEMU connects to our socket; its output goes to a file
// and, line by line, to Config.OnLine.
type console struct {
	path   string
	file   *os.File
	onLine func(string)
	done   chan struct{} // closed when all output is in the file

	mu       sync.Mutex
	last     string // last line that was not empty
	panicked bool
	err      error
}

// listenUnix listens on a socket in the run directory. It replaces a socket that a killed process
// left: the run directory is locked, so nobody else listens on it.
func listenUnix(path string) (*net.UnixListener, error) {
	if err := checkSocketPath(path); err != nil {
		return nil, err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
}

// acceptOne waits for QEMU to connect and closes the listener.
func acceptOne(l *net.UnixListener, timeout time.Duration) (net.Conn, error) {
	defer l.Close()
	if err := l.SetDeadline(time.Now().Add(timeout)); err != nil {
		return nil, err
	}
	return l.Accept()
}

func newConsole(path string, onLine func(string)) (*console, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("cannot make the console file: %w", err)
	}
	return &console{path: path, file: f, onLine: onLine, done: make(chan struct{})}, nil
}

// run copies until the other side closes.
func (c *console) run(conn net.Conn) {
	defer close(c.done)
	defer conn.Close()
	buf := make([]byte, 16<<10)
	var line []byte
	kept := 0
	for {
		n, err := conn.Read(buf)
		if n > 0 && kept < maxConsole {
			kept += n
			c.keep(buf[:n], kept)
		}
		for _, b := range buf[:n] {
			if b == '\n' || len(line) == maxLine {
				c.line(printable(line))
				line = line[:0]
			}
			if b != '\n' {
				line = append(line, b)
			}
		}
		if err != nil {
			c.line(printable(line))
			if !errors.Is(err, io.EOF) {
				c.fail(err)
			}
			c.fail(c.file.Close())
			return
		}
	}
}

// keep writes to the file. If it cannot, the guest goes on and its lines are still read.
func (c *console) keep(b []byte, kept int) {
	if _, err := c.file.Write(b); err != nil {
		c.fail(err)
	}
	if kept >= maxConsole {
		_, err := fmt.Fprintf(c.file,
			"\n[fsward: the guest wrote more than %d MiB; the rest is not kept]\n", maxConsole>>20)
		c.fail(err)
	}
}

func (c *console) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
	}
}

func (c *console) line(s string) {
	if s == "" {
		return
	}
	c.mu.Lock()
	c.last = s
	c.panicked = c.panicked || strings.Contains(s, "Kernel panic - not syncing")
	c.mu.Unlock()
	if c.onLine != nil {
		c.onLine(s)
	}
}

// printable drops characters that could move the cursor of a terminal or forge a line of a log.
func printable(b []byte) string {
	return string(bytes.TrimSpace(bytes.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case r < 0x20, r >= 0x7f:
			return -1
		}
		return r
	}, b)))
}

// state returns the last line, and reports whether the kernel panicked.
func (c *console) state() (last string, panicked bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last, c.panicked
}
