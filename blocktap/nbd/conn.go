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
	// maxPayload is the largest read or write in bytes. The server announces it to clients. nbdkit and
	// qemu have the same limit.
	maxPayload = 32 << 20
	// handshakeTime is the time that a client has to choose its export.
	handshakeTime = 30 * time.Second
)

// budget bounds the number and the bytes of the requests that a connection performs at the same
// time. Changes have their own budget, so that reads go on while a hook holds a change and others
// wait for it. qemu sends at most 16 requests for a disk at a time.
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

// conn is a connection. One goroutine reads from it. Each request is performed on its own
// goroutine.
type conn struct {
	nc      net.Conn
	r       *bufio.Reader
	exports []Export
	log     *zap.Logger

	// ctx is the context of the hooks. It ends when the server cuts the connection, but not when the
	// client disconnects: the server still performs the writes that it has received.
	ctx    context.Context
	cancel context.CancelFunc

	// Results of the handshake.
	noZeroes    bool
	structured  bool
	metaContext *Export // the export whose base:allocation the client has selected; nil if none

	changes, reads budget
	inFlight       sync.WaitGroup // counts the requests that are performed

	sendMu sync.Mutex // held while a whole reply is sent

	drainMu  sync.Mutex
	draining bool
}

func newConn(
	ctx context.Context, cancel context.CancelFunc, nc net.Conn, exports []Export, log *zap.Logger,
) *conn {
	return &conn{
		nc:      nc,
		r:       bufio.NewReaderSize(nc, 64<<10),
		exports: exports,
		log:     log,
		ctx:     ctx,
		cancel:  cancel,
		changes: newBudget(256),
		reads:   newBudget(64),
	}
}

// protocolError says how a client broke the protocol. The server has to end the connection.
type protocolError struct{ reason string }

func (e *protocolError) Error() string { return e.reason }

func malformed(format string, args ...any) error {
	return &protocolError{fmt.Sprintf(format, args...)}
}

// errDone says that the client has ended the connection in an orderly way.
var errDone = errors.New("done")

// serve runs a connection from the greeting to its end. It closes the connection after all requests
// are complete.
func (c *conn) serve() {
	defer c.cancel()
	err := c.run()
	c.inFlight.Wait()
	_ = c.nc.Close()
	var protocol *protocolError
	switch {
	case errors.As(err, &protocol):
		c.log.Warn("nbd: disconnected a client that broke the protocol",
			zap.String("reason", protocol.reason))
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
	if c.isDraining() { // SetDeadline may have removed the deadline that drain has set
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

// send writes a whole message. If that fails, it closes the connection, so that the reading
// goroutine ends too.
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

// drain ends the connection once the requests in flight are complete.
func (c *conn) drain() {
	c.drainMu.Lock()
	c.draining = true
	c.drainMu.Unlock()
	_ = c.nc.SetReadDeadline(time.Now()) // the connection may be closed already
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
