// Command fswcalls runs in a guest whose disks are guarded. It reports the calls that promise
// durability to the guard, over a virtio-serial port: see hostd/daemon/fsynccheck. It loads nothing
// into the kernel, reads the kernel's trace events, and needs root. It finds the disks of the guard
// by their serials, or as its arguments say: fswcalls vda=root vdb=data.
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"fsward/explore/agent/virtioport"
	"fsward/hostd/daemon/fsynccheck"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "fswcalls:", err)
		os.Exit(1)
	}
}

// run runs until it receives SIGTERM or Ctrl-C, or fails.
func run(args []string) error {
	signaled, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	named := make(map[string]string)
	for _, arg := range args {
		dev, name, ok := strings.Cut(arg, "=")
		if !ok {
			return fmt.Errorf("%q: expected DEVICE=DISK, such as vda=root", arg)
		}
		named[strings.TrimPrefix(dev, "/dev/")] = name
	}
	disks, err := findDisks(named)
	if err != nil {
		return err
	}
	path, err := virtioport.Find(fsynccheck.Port)
	if err != nil {
		return fmt.Errorf("%w: see fsward guard --calls", err)
	}
	port, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	tracing, err := begin()
	if err != nil {
		return err
	}
	t := &teller{port: bufio.NewWriterSize(port, 64<<10)}
	t.say("fswcalls %d", fsynccheck.Version)
	for dev, name := range disks {
		t.say("disk %s %s", dev, name)
	}
	g, ctx := errgroup.WithContext(signaled)
	context.AfterFunc(ctx, func() { _ = port.Close() })
	g.Go(func() error { return t.answer(port, tracing) })
	g.Go(func() error { return t.follow(ctx, tracing, disks) })
	if err = g.Wait(); signaled.Err() != nil {
		err = nil
	}
	return errors.Join(err, tracing.end())
}

// findDisks returns the names of disks by their numbers, MAJOR,MINOR: the disks that the arguments
// name, or all that have a serial.
func findDisks(named map[string]string) (map[string]string, error) {
	dirs, err := filepath.Glob("/sys/block/*")
	if err != nil {
		return nil, err
	}
	disks := make(map[string]string)
	bySerial := len(named) == 0
	for _, dir := range dirs {
		device := filepath.Base(dir)
		name := named[device]
		delete(named, device)
		if bySerial {
			name = content(filepath.Join(dir, "serial"))
		}
		if name != "" && !strings.ContainsAny(name, " \t") {
			disks[strings.Replace(content(filepath.Join(dir, "dev")), ":", ",", 1)] = name
		}
	}
	for device := range named {
		return nil, fmt.Errorf("there is no disk %s", device)
	}
	if len(disks) == 0 {
		return nil, errors.New("no disk has a serial: say which is which, as in fswcalls vda=root")
	}
	return disks, nil
}

// content returns the trimmed contents of a small file; "" if there is no such file.
func content(path string) string {
	b, _ := os.ReadFile(path)
	return strings.TrimSpace(string(b))
}

// A teller writes lines to the host.
type teller struct {
	mu   sync.Mutex
	port *bufio.Writer
}

// say writes a line. The next flush sends it.
func (t *teller) say(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintf(t.port, format+"\n", args...) // the writer keeps the error, and flush returns it
}

func (t *teller) flush() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.port.Flush()
}

// answer sends the host the time when it asks, until the port is closed.
func (t *teller) answer(port io.Reader, tracing *tracing) error {
	for lines := bufio.NewScanner(port); lines.Scan(); {
		var n uint64
		if _, err := fmt.Sscanf(lines.Text(), "ping %d", &n); err != nil {
			return fmt.Errorf("%q: %w", lines.Text(), err)
		}
		var ts unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
			return err
		}
		t.say("pong %d %d", n, ts.Nano())
		if err := errors.Join(t.flush(), tracing.enable()); err != nil { // a module may have been loaded
			return err
		}
	}
	return errors.New("the host has closed the port")
}

// pause is how long events gather before they are read. To wake up for each event would cost the
// guest more than everything else that this program does.
const pause = 100 * time.Millisecond

// follow reads the kernel's trace and reports calls that have returned, until ctx ends.
func (t *teller) follow(ctx context.Context, tracing *tracing, disks map[string]string) error {
	tracer := fsynccheck.Tracer{Watched: func(dev string) bool { return disks[dev] != "" },
		Devices: devicesOf}
	var rest []byte // beginning of a line
	buf := make([]byte, 64<<10)
	for ctx.Err() == nil {
		n, err := tracing.read(buf[copy(buf, rest):])
		if err != nil {
			return err
		}
		text := buf[:len(rest)+n]
		for line := range bytes.Lines(text) {
			if rest = line; !bytes.HasSuffix(line, []byte("\n")) {
				break
			}
			rest = nil
			switch call, lost := tracer.Line(string(bytes.TrimSuffix(line, []byte("\n")))); {
			case lost:
				t.say("lost")
			case call != nil:
				t.say("%s", call)
			}
		}
		if len(rest) == len(buf) {
			rest = nil // no line of the kernel
		}
		if n > 0 {
			continue
		}
		if err := t.flush(); err != nil {
			return err
		}
		time.Sleep(pause)
	}
	return nil
}

// devicesOf returns the devices of a Btrfs, MAJOR,MINOR.
func devicesOf(uuid string) (devs []string) {
	paths, _ := filepath.Glob("/sys/fs/btrfs/" + uuid + "/devices/*/dev")
	for _, path := range paths {
		devs = append(devs, strings.Replace(content(path), ":", ",", 1))
	}
	return devs
}
