package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"fsward/explore/ekm"
	"fsward/explore/ramdisk"
	"fsward/explore/ubd"
)

// maxRunning bounds the requests that are performed at the same time. A request that timed out
// counts until its last system call returns.
const maxRunning = 32

// A Server performs the requests of a Client.
type Server struct {
	conn    io.ReadWriter
	running chan struct{} // holds an element for each request in progress
	held    *heldFiles
	kernel  *kernelLog // of ServeInTurn, which takes the messages of a request from it; else nil
	area    ubd.Area   // of ServeInTurn; else nil

	mu sync.Mutex // serializes the writing of frames
}

// NewServer returns a server for the client at the other end of conn.
func NewServer(conn io.ReadWriter) *Server {
	return &Server{conn: conn, running: make(chan struct{}, maxRunning), held: newHeldFiles()}
}

// Serve reads and performs requests until conn ends. If conn ends between two frames, Serve returns
// nil. Between kindHold and kindRelease it ignores all other requests.
func (s *Server) Serve() error {
	frames := newFrameReader(s.conn)
	held := false
	for {
		f, err := frames.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch f.kind {
		case kindHold, kindRelease:
			held = f.kind == kindHold
			err = s.answer(&f, nil, nil)
		case kindPing: // answered here, so that no other request delays the answer
			if !held {
				err = s.answer(&f, f.payload, nil)
			}
		default:
			if !held {
				err = s.start(&f)
			}
		}
		if err != nil {
			return err
		}
	}
}

// ServeInTurn reads and performs one request after the other until conn ends, without a goroutine
// for each, for a guest in which threads are dear. Nothing bounds the time of a Batch: the client
// must give up by itself. The disks are those of user-mode Linux, with this area.
func (s *Server) ServeInTurn(area ubd.Area) error {
	s.kernel, s.area = openKernelLog(), area
	for frames := newFrameReader(s.conn); ; {
		f, err := frames.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		payload, done, err := s.handle(&f)
		<-done
		if err := s.answer(&f, payload, err); err != nil {
			return err
		}
	}
}

// start performs a request in a new goroutine. It answers with an error if maxRunning requests are
// in progress.
func (s *Server) start(f *frame) error {
	select {
	case s.running <- struct{}{}:
	default:
		return s.answer(f, nil, fmt.Errorf("%d requests are in progress", maxRunning))
	}
	go func() {
		payload, done, err := s.handle(f)
		if e := s.answer(f, payload, err); e != nil {
			fmt.Fprintln(os.Stderr, "fsagent:", e)
		}
		<-done
		<-s.running
	}()
	return nil
}

// closed is a channel that is closed.
var closed = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// handle performs a request and returns the payload of the answer. done is closed when the last
// operation of the request has ended, which may be after its time-out.
func (s *Server) handle(f *frame) (payload []byte, done <-chan struct{}, err error) {
	done = closed
	switch f.kind {
	case kindHello:
		payload, err = hello()
	case kindPing:
		payload = f.payload
	case kindRun:
		var c Command
		if c, err = decodeCommand(f.payload); err == nil {
			var e Exit
			e, err = run(&c)
			payload = e.encode()
		}
	case kindDo:
		var b Batch
		switch b, err = decodeBatch(f.payload); {
		case err != nil:
		case s.kernel != nil:
			payload = s.doInTurn(&b)
		default:
			payload, done = s.do(&b)
		}
	case kindLog, kindWrites:
		open := ramdisk.OpenLog
		if f.kind == kindWrites {
			open = ekm.OpenLog
		}
		var r logRequest
		if r, err = decodeLogRequest(f.payload); err == nil {
			payload, err = readLog(&r, open)
		}
	default:
		err = fmt.Errorf("unknown kind of request: %d", f.kind)
	}
	return payload, done, err
}

// answer sends the answer to a request: err if it is not nil, and payload otherwise.
func (s *Server) answer(f *frame, payload []byte, err error) error {
	a := frame{kind: f.kind | kindAnswer, id: f.id, payload: payload}
	if err != nil {
		text := err.Error()
		a.kind, a.payload = a.kind|kindFailed, []byte(text[:min(len(text), MaxText)])
	}
	if len(a.payload) > MaxPayload {
		a.kind, a.payload = a.kind|kindFailed, []byte("the answer is too long")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, e := s.conn.Write(a.encode())
	return e
}

// hello returns the encoded Hello of this machine.
func hello() ([]byte, error) {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return nil, err
	}
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return nil, err
	}
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		return nil, err
	}
	h := Hello{
		Release: unix.ByteSliceToString(u.Release[:]),
		BootID:  strings.TrimSpace(string(id)),
		Uptime:  time.Duration(t.Nano()),
	}
	return h.encode(), nil
}

// do performs a batch and returns the encoded Done. When time is up, do returns the results so far,
// and does not wait for the operation in progress: its system call may never return. done is closed
// when the last operation has ended.
func (s *Server) do(b *Batch) (payload []byte, done <-chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), b.Timeout)
	defer cancel()
	kernel := openKernelLog()
	results := make(chan Result, len(b.Ops))
	coverage := make(chan Coverage, 1)
	ended := make(chan struct{})
	begin := time.Now()
	go func() {
		defer close(ended)
		defer close(results)
		s.perform(b, coverage, func() bool { return ctx.Err() != nil }, func(r Result) { results <- r })
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
	d := Done{Took: time.Since(begin), Results: available(results)}
	select {
	case c := <-coverage:
		d.Coverage = &c
	default:
	}
	stopped := b.StopAtError && len(d.Results) > 0 && d.Results[len(d.Results)-1].Errno != 0
	d.TimedOut = len(d.Results) < len(b.Ops) && !stopped
	d.Kernel = kernel.end()
	return d.encode(), ended
}

// perform performs the operations of a batch, and passes the result of each to done. stop reports
// whether time is up. If the batch asks for it, coverage receives the edges of the kernel's code.
func (s *Server) perform(b *Batch, coverage chan<- Coverage, stop func() bool,
	done func(Result)) {
	p := newPerformer(s.held, stop)
	p.disks.area = s.area
	defer p.close()
	if b.Cover {
		defer p.cover(coverage)()
	}
	for i := range b.Ops {
		if stop() {
			return
		}
		r := p.perform(&b.Ops[i])
		done(r)
		if r.Errno != 0 && b.StopAtError {
			return
		}
	}
}

// doInTurn performs a batch for ServeInTurn, and returns the encoded Done, without the time that it
// took.
func (s *Server) doInTurn(b *Batch) []byte {
	var d Done
	coverage := make(chan Coverage, 1)
	s.perform(b, coverage, func() bool { return false },
		func(r Result) { d.Results = append(d.Results, r) })
	if b.Cover {
		c := <-coverage
		d.Coverage = &c
	}
	d.Kernel = s.kernel.take()
	return d.encode()
}

// available returns the results that can be received without waiting.
func available(results <-chan Result) (out []Result) {
	for {
		select {
		case r, ok := <-results:
			if !ok {
				return out
			}
			out = append(out, r)
		default:
			return out
		}
	}
}

// readLog takes up to r.most bytes from a module's log. It waits at most r.wait for the first byte,
// and then reads until no byte comes for logGrace.
func readLog(r *logRequest, open func() (*os.File, error)) ([]byte, error) {
	f, err := open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := f.SetReadDeadline(time.Now().Add(r.wait)); err != nil {
		return nil, err
	}
	b := make([]byte, r.most)
	n := 0
	for n < len(b) {
		k, err := f.Read(b[n:])
		n += k
		if errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		if err != nil {
			return b[:n], err
		}
		if err := f.SetReadDeadline(time.Now().Add(logGrace)); err != nil {
			return b[:n], err
		}
	}
	return b[:n], nil
}

// logGrace is how long readLog waits for more bytes after the first ones.
const logGrace = 2 * time.Millisecond
