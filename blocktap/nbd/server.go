// Package nbd serves devices with the network block device protocol: fixed newstyle negotiation,
// simple and structured replies, flush, FUA, trim, write-zeroes and base:allocation. Start reading
// at Server.
//
// The server performs the requests of a connection concurrently, in any order. As the protocol
// says, a client that needs an order has to wait for the reply before it sends the next request.
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
	// maxConns is the largest number of connections at a time.
	maxConns = 32
	// acceptRetry is the pause after a temporary failure of Accept, such as too many open files.
	acceptRetry = 100 * time.Millisecond
)

// An Export is a device with a name.
type Export struct {
	Name        string // "" for clients that ask for no name
	Device      *blocktap.Device
	ReadOnly    bool
	Description string // shown in the list of exports
}

// A Server serves exports on at most maxConns connections at a time, from any number of clients.
type Server struct {
	exports []Export
	log     *zap.Logger

	mu        sync.Mutex
	stopping  bool
	listeners map[net.Listener]struct{}
	conns     map[*conn]struct{}
	idle      sync.WaitGroup // counts the connections
}

// NewServer returns a server. The exports must have different names.
func NewServer(exports []Export, log *zap.Logger) *Server {
	return &Server{
		exports:   exports,
		log:       log,
		listeners: make(map[net.Listener]struct{}),
		conns:     make(map[*conn]struct{}),
	}
}

// Serve accepts connections from l until Shutdown is called, ctx ends or l fails. It returns nil in
// the first two cases, after the last request is complete, so that the caller can close the disks.
// When ctx ends, Serve cuts the connections and cancels the contexts of hooks. It closes l.
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
			var temporary net.Error
			if errors.As(err, &temporary) && !errors.Is(err, net.ErrClosed) {
				s.log.Warn("nbd: cannot accept a connection", zap.Error(err))
				time.Sleep(acceptRetry)
				continue
			}
			return fmt.Errorf("nbd: %w", err)
		}
		s.start(ctx, nc)
	}
}

// Shutdown accepts no more connections and requests, completes and answers the requests in flight,
// and returns nil when all connections are closed. If ctx ends first, it cuts the connections and
// returns ctx.Err.
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

// cut closes the listeners and cuts all connections.
func (s *Server) cut() {
	s.stop(func(c *conn) { c.cut() })
}

// stop closes the listeners and calls each for all connections.
func (s *Server) stop(each func(*conn)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopping = true
	for l := range s.listeners {
		_ = l.Close()
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
	_ = l.Close() // it may be closed already
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.listeners, l)
}

// start serves a connection on its own goroutines. It closes the connection if the server is
// stopping or has maxConns connections.
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
			s.log.Warn("nbd: refused a connection: too many are open", zap.Int("served", maxConns))
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
