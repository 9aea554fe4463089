package nbd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/semaphore"
)

const (
	// maxPayload is the largest read or write; clients are told, and nbdkit and qemu have the same limit.
	maxPayload = 32 << 20
	// handshakeTime is how long a client may take to choose its export.
	handshakeTime = 30 * time.Second
)

// budget bounds what a connection has under way. Changes have one of their own: while one is on hold
// and the others queue behind it, reads go on. qemu has at most 16 requests of a disk under way.
type budget struct {
	requests, bytes *semaphore.Weighted
}

func newBudget(requests int64) budget {
	return budget{semaphore.NewWeighted(requests), semaphore.NewWeighted(2 * maxPayload)}
}

func (b budget) acquire(ctx context.Context, bytes uint32) error {
	if err := b.requests.Acquire(ctx, 1); err != nil {
		return err
	}
	if err := b.bytes.Acquire(ctx, int64(bytes)); err != nil {
		b.requests.Release(1)
		return err
	}
	return nil
}

func (b budget) release(bytes uint32) {
	b.bytes.Release(int64(bytes))
	b.requests.Release(1)
}

// conn is a connection. One goroutine reads from it; each request is performed on one of its own.
type conn struct {
	nc      net.Conn
	r       *bufio.Reader
	exports []Export
	log     *zap.Logger

	// ctx is what hooks wait with. It ends when the server is cut off and not when the client goes away: a
	// write that was received is judged all the same.
	ctx    context.Context
	cancel context.CancelFunc

	// Agreed on in the handshake.
	noZeroes    bool
	structured  bool
	metaContext *Export // for which base:allocation was asked

	changes, reads budget
	underWay       sync.WaitGroup

	sendMu sync.Mutex // held over a whole reply

	drainMu  sync.Mutex
	draining bool
}

func newConn(ctx context.Context, cancel context.CancelFunc, nc net.Conn, exports []Export, log *zap.Logger) *conn {
	return &conn{
		nc: nc, r: bufio.NewReaderSize(nc, 64<<10), exports: exports, log: log, ctx: ctx, cancel: cancel,
		changes: newBudget(256), reads: newBudget(64),
	}
}

// protocolError is what a client did that it must not do. The connection cannot go on.
type protocolError struct{ reason string }

func (e *protocolError) Error() string { return e.reason }

func malformed(format string, args ...any) error {
	return &protocolError{fmt.Sprintf(format, args...)}
}

// errDone ends a connection as the client wishes.
var errDone = errors.New("done")

// serve runs a connection from the greeting to its end. Requests under way are finished first, however
// it ends.
func (c *conn) serve() {
	defer c.cancel()
	err := c.run()
	c.underWay.Wait()
	_ = c.nc.Close()
	var protocol *protocolError
	switch {
	case errors.As(err, &protocol):
		c.log.Warn("nbd: client disconnected for what it sent", zap.String("reason", protocol.reason))
	case errors.Is(err, errDone), errors.Is(err, io.EOF), c.isDraining(), c.ctx.Err() != nil:
		c.log.Debug("nbd: connection ended")
	default:
		c.log.Warn("nbd: connection lost", zap.Error(err))
	}
}

func (c *conn) run() error {
	if err := c.nc.SetDeadline(time.Now().Add(handshakeTime)); err != nil {
		return err
	}
	e, err := c.negotiate()
	if err != nil {
		return err
	}
	if err := c.nc.SetDeadline(time.Time{}); err != nil {
		return err
	}
	if c.isDraining() { // the deadline just taken away may have been that of drain
		return errDone
	}
	c.log.Debug("nbd: connected", zap.String("export", e.Name), zap.Bool("structured", c.structured))
	return c.transmit(e)
}

// read fills b.
func (c *conn) read(b []byte) error {
	_, err := io.ReadFull(c.r, b)
	return err
}

// send writes a message whole. A client that cannot be written to is cut off, so that the reading side
// ends too.
func (c *conn) send(parts ...[]byte) error {
	c.sendMu.Lock()
	defer c.sendMu.Unlock()
	bufs := net.Buffers(parts)
	if _, err := bufs.WriteTo(c.nc); err != nil {
		_ = c.nc.Close()
		return err
	}
	return nil
}

// drain ends the connection once what is under way is done.
func (c *conn) drain() {
	c.drainMu.Lock()
	c.draining = true
	c.drainMu.Unlock()
	_ = c.nc.SetReadDeadline(time.Now()) // a closed connection has drained
}

func (c *conn) isDraining() bool {
	c.drainMu.Lock()
	defer c.drainMu.Unlock()
	return c.draining
}

// cut ends the connection now.
func (c *conn) cut() {
	c.cancel()
	_ = c.nc.Close()
}
