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
)

// maxRunning bounds the requests that are performed at the same time. One that its time-out has ended counts until the kernel
// lets its thread go.
const maxRunning = 32

// A Server performs what it is asked.
type Server struct {
	conn    io.ReadWriter
	running chan struct{}

	mu sync.Mutex // of writing
}

// NewServer serves the other end of conn.
func NewServer(conn io.ReadWriter) *Server {
	return &Server{conn: conn, running: make(chan struct{}, maxRunning)}
}

// Serve reads requests until conn ends. The end between two frames is no error.
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
		case kindPing: // by nobody else: what the requests do must not hold it up
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

// start performs a request beside the others.
func (s *Server) start(f *frame) error {
	select {
	case s.running <- struct{}{}:
	default:
		return s.answer(f, nil, fmt.Errorf("%d requests are under way", maxRunning))
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

var closed = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// handle performs a request. done is closed when nothing of it is under way any more.
func (s *Server) handle(f *frame) (payload []byte, done <-chan struct{}, err error) {
	done = closed
	switch f.kind {
	case kindHello:
		payload, err = hello()
	case kindRun:
		var c Command
		if c, err = decodeCommand(f.payload); err == nil {
			var e Exit
			e, err = run(&c)
			payload = e.encode()
		}
	case kindDo:
		var b Batch
		if b, err = decodeBatch(f.payload); err == nil {
			payload, done = do(&b)
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
		err = fmt.Errorf("no request has the number %d", f.kind)
	}
	return payload, done, err
}

// answer sends an answer.
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
	h := Hello{Release: unix.ByteSliceToString(u.Release[:]), BootID: strings.TrimSpace(string(id)), Uptime: time.Duration(t.Nano())}
	return h.encode(), nil
}

// do performs a batch. When its time is up, what was done by then is the answer, and the operation that is under way is left
// to itself: the kernel may never end it.
func do(b *Batch) (payload []byte, done <-chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), b.Timeout)
	defer cancel()
	kernel := openKernelLog()
	results := make(chan Result, len(b.Ops))
	ended := make(chan struct{})
	begin := time.Now()
	go func() {
		defer close(ended)
		defer close(results)
		p := newPerformer(func() bool { return ctx.Err() != nil })
		defer p.close()
		for i := range b.Ops {
			if ctx.Err() != nil {
				return
			}
			r := p.perform(&b.Ops[i])
			results <- r
			if r.Errno != 0 && b.StopAtError {
				return
			}
		}
	}()
	var d Done
	select {
	case <-ended:
	case <-ctx.Done():
	}
	d.Took = time.Since(begin)
	for more := true; more; {
		select {
		case r, ok := <-results:
			if more = ok; ok {
				d.Results = append(d.Results, r)
			}
		default:
			more = false
		}
	}
	stopped := b.StopAtError && len(d.Results) > 0 && d.Results[len(d.Results)-1].Errno != 0
	d.TimedOut = len(d.Results) < len(b.Ops) && !stopped
	d.Kernel = kernel.end()
	return d.encode(), ended
}

// readLog takes bytes out of a module's log: what there is, or what comes first.
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
		// What comes after the first bytes is not waited for.
		if err := f.SetReadDeadline(time.Now().Add(logGrace)); err != nil {
			return b[:n], err
		}
	}
	return b[:n], nil
}

// logGrace is how long the log is empty before a piece of it is sent.
const logGrace = 2 * time.Millisecond
