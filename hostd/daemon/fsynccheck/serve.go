package fsynccheck

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// pingEvery is how often the guest's clock is read. A call is checked after this time at most.
const pingEvery = 250 * time.Millisecond

// A Sum counts the calls of one run of fswcalls.
type Sum struct {
	Judged uint64 // calls that were checked
	Early  uint64 // calls that came too early
	Open   uint64 // calls that could not be decided: too much had happened since, or events were lost
}

// A Host keeps the accounts of a guest.
type Host struct {
	Disks   []Disk
	OnEarly func(*Early) // is called for each call that came too early
	OnEnd   func(Sum)    // is called when a guest's fswcalls has ended
	Log     *zap.Logger
}

// Serve keeps the account of one guest after the other until ctx ends. QEMU connects when the
// guest's port is made, and again on request.
func (h *Host) Serve(ctx context.Context, l net.Listener) error {
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	for {
		conn, err := l.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("calls: %w", err)
		}
		if err := h.guest(ctx, conn); err != nil {
			h.Log.Warn("the guest's calls are not followed any more", zap.Error(err))
		}
	}
}

// guest reads one connection: one run of fswcalls after the other.
func (h *Host) guest(ctx context.Context, conn net.Conn) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		<-ctx.Done()
		return conn.Close()
	})
	s := &stream{host: h, conn: conn}
	g.Go(func() error { return s.read() })
	g.Go(func() error { return s.ping(ctx) })
	err := g.Wait()
	s.end()
	// the last one when the guest is switched off
	for _, end := range []error{io.EOF, net.ErrClosed, unix.ECONNRESET} {
		if errors.Is(err, end) {
			return nil
		}
	}
	return err
}

// A stream is one connection.
type stream struct {
	host *Host
	conn net.Conn

	mu      sync.Mutex
	account *account // nil until fswcalls has sent its version
	number  uint64   // of the last ping
	sent    int64    // when it was sent; 0: it came back
}

// read reads lines until the connection ends (io.EOF). An invalid line is an error.
func (s *stream) read() error {
	lines := bufio.NewScanner(s.conn)
	lines.Buffer(make([]byte, 4096), maxLine)
	for lines.Scan() {
		if err := s.line(lines.Text()); err != nil {
			return fmt.Errorf("%q: %w", cut(lines.Text()), err)
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return io.EOF
}

// cut shortens a line for an error.
func cut(line string) string { return line[:min(len(line), 120)] }

func (s *stream) line(line string) error {
	heard := now()
	s.mu.Lock()
	defer s.mu.Unlock()
	word, rest, _ := strings.Cut(line, " ")
	if word == "fswcalls" {
		if rest != strconv.Itoa(Version) {
			return fmt.Errorf("expected version %d: install the fswcalls that belongs to this fsward "+
				"in the guest", Version)
		}
		s.finish()
		s.account, s.sent = newAccount(s.host.Disks, s.host.OnEarly), 0
		return nil
	}
	a := s.account
	if a == nil {
		return nil // the rest of what another run wrote
	}
	switch word {
	case "disk":
		dev, name, _ := strings.Cut(rest, " ")
		return a.found(dev, name)
	case "pong":
		return s.pong(rest, heard)
	case "call":
		c, err := parseCall(rest)
		if err != nil {
			return err
		}
		a.call(c)
	case "lost":
		a.open++
	default:
		return errors.New("unknown kind of line")
	}
	return nil
}

func (s *stream) pong(text string, heard int64) error {
	number, at, _ := strings.Cut(text, " ")
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return err
	}
	guest, err := parseTime(at)
	if err != nil {
		return err
	}
	if n != s.number || s.sent == 0 {
		return nil // of an earlier run
	}
	p := ping{s.sent, guest, heard}
	s.sent = 0
	return s.account.ping(p)
}

// ping asks for the guest's time, unless the last ping is still on its way.
func (s *stream) ping(ctx context.Context) error {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		s.mu.Lock()
		ask := s.account != nil && s.sent == 0
		if ask {
			s.number++
			s.sent = now()
		}
		n := s.number
		s.mu.Unlock()
		if !ask {
			continue
		}
		if _, err := fmt.Fprintf(s.conn, "ping %d\n", n); err != nil {
			return err
		}
	}
}

func (s *stream) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finish()
}

// finish ends an account.
func (s *stream) finish() {
	if a := s.account; a != nil {
		s.host.OnEnd(Sum{a.judged, a.early, a.open + uint64(len(a.calls))})
		s.account = nil
	}
}
