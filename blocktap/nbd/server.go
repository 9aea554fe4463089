// Package nbd serves devices by the network block device protocol: fixed newstyle negotiation, simple and
// structured replies, flush, FUA, trim, write-zeroes and base:allocation.
//
// Requests of one connection are performed side by side. Their order is that in which Device.Do takes
// them; a client that needs an order waits for the reply, as the protocol says.
package nbd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"go.uber.org/zap"

	"fsward/blocktap"
)

const (
	// maxConns bounds the connections that are served at a time.
	maxConns = 32
	// acceptRetry is the pause after a failure to accept that may pass, such as too many open files.
	acceptRetry = 100 * time.Millisecond
)

// Export is a device under a name.
type Export struct {
	Name        string // what clients ask for; "" is what they get who ask for nothing
	Device      *blocktap.Device
	ReadOnly    bool
	Description string // shown in the list of exports
}

// Server serves exports to any number of clients, each with any number of connections.
type Server struct {
	exports []Export
	log     *zap.Logger

	mu        sync.Mutex
	stopping  bool
	listeners map[net.Listener]struct{}
	conns     map[*conn]struct{}
	idle      sync.WaitGroup // one for each connection
}

// NewServer makes a server. Names of exports have to differ.
func NewServer(exports []Export, log *zap.Logger) *Server {
	return &Server{
		exports:   exports,
		log:       log,
		listeners: make(map[net.Listener]struct{}),
		conns:     make(map[*conn]struct{}),
	}
}

// Serve accepts connections from l until Shutdown is called or ctx ends, when it returns nil, or until l
// fails. It closes l. When ctx ends, connections are cut off and hooks that wait are told by their
// context. In both cases it returns when the last request has been performed, so that the disks can be
// closed after it.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	if !s.add(l) {
		return l.Close()
	}
	defer s.remove(l)
	defer context.AfterFunc(ctx, s.cut)()
	for {
		nc, err := l.Accept()
		if err != nil {
			if s.isStopping() {
				s.idle.Wait()
				return nil
			}
			var passing net.Error
			if errors.As(err, &passing) && !errors.Is(err, net.ErrClosed) {
				s.log.Warn("nbd: cannot accept a connection", zap.Error(err))
				time.Sleep(acceptRetry)
				continue
			}
			return fmt.Errorf("nbd: %w", err)
		}
		s.start(ctx, nc)
	}
}

// Shutdown stops accepting, takes no more requests, lets those under way finish and be answered, and
// returns when all connections are closed. When ctx ends first, they are cut off and ctx's error is
// returned.
func (s *Server) Shutdown(ctx context.Context) error {
	s.stop(func(c *conn) { c.drain() })
	closed := make(chan struct{})
	go func() {
		s.idle.Wait()
		close(closed)
	}()
	select {
	case <-closed:
		return nil
	case <-ctx.Done():
		s.cut()
		return ctx.Err()
	}
}

// cut ends everything now.
func (s *Server) cut() {
	s.stop(func(c *conn) { c.cut() })
}

// stop closes the listeners and does something to each connection.
func (s *Server) stop(each func(*conn)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopping = true
	for l := range s.listeners {
		_ = l.Close() // Serve sees it closed
	}
	for c := range s.conns {
		each(c)
	}
}

func (s *Server) isStopping() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopping
}

func (s *Server) add(l net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listeners[l] = struct{}{}
	return !s.stopping
}

func (s *Server) remove(l net.Listener) {
	_ = l.Close() // it may be closed
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.listeners, l)
}

// start serves a connection on goroutines of its own.
func (s *Server) start(ctx context.Context, nc net.Conn) {
	ctx, cancel := context.WithCancel(ctx)
	c := newConn(ctx, cancel, nc, s.exports, s.log)
	s.mu.Lock()
	full := len(s.conns) >= maxConns
	if s.stopping || full {
		s.mu.Unlock()
		cancel()
		_ = nc.Close()
		if full {
			s.log.Warn("nbd: connection turned away", zap.Int("served", maxConns))
		}
		return
	}
	s.conns[c] = struct{}{}
	s.idle.Add(1)
	s.mu.Unlock()
	go func() {
		defer s.idle.Done()
		c.serve()
		s.mu.Lock()
		delete(s.conns, c)
		s.mu.Unlock()
	}()
}
