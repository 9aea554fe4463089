package agent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"
)

// Errors of a Client.
var (
	ErrClosed = errors.New("the agent is gone")
	ErrCut    = errors.New("the guest was put back to a checkpoint")
	ErrBusy   = errors.New("requests are under way")
)

// RemoteError is what the agent says that it could not do. What it did is not known.
type RemoteError struct{ Text string }

func (e *RemoteError) Error() string { return "the agent says: " + e.Text }

// slack is how long a client waits for an answer beyond the request's own time-out.
const slack = 20 * time.Second

// Client is the host's side of the port. Safe for concurrent use; requests run beside each other.
type Client struct {
	conn net.Conn

	writing sync.Mutex // of frames
	rest    []byte     // of one that was cut, which the other side may still take for the beginning of a frame
	mu      sync.Mutex
	next    uint64
	waiting map[uint64]chan answer
	held    bool  // no requests, but to release
	err     error // of reading; final

	reading chan struct{} // closed when the reader has ended
	cutting bool
}

type answer struct {
	kind    kind
	payload []byte
	err     error
}

// NewClient speaks with the agent at the other end of conn, a port of the guest. Close closes it.
func NewClient(conn net.Conn) *Client {
	c := &Client{conn: conn, waiting: make(map[uint64]chan answer)}
	c.startReading()
	return c
}

// Close ends all requests.
func (c *Client) Close() error {
	err := c.conn.Close()
	<-c.reader()
	return err
}

func (c *Client) reader() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reading
}

func (c *Client) startReading() {
	done := make(chan struct{})
	c.mu.Lock()
	c.reading = done
	c.mu.Unlock()
	go func() {
		defer close(done)
		frames := newFrameReader(c.conn)
		for {
			f, err := frames.next()
			if err != nil {
				c.ended(err)
				return
			}
			c.mu.Lock()
			w := c.waiting[f.id]
			delete(c.waiting, f.id)
			c.mu.Unlock()
			if w != nil { // else nobody waits any more
				w <- answer{kind: f.kind, payload: f.payload}
			}
		}
	}()
}

// ended fails all requests: for good, or because the stream was cut.
func (c *Client) ended(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cutting && errors.Is(err, os.ErrDeadlineExceeded) {
		err = ErrCut
	} else {
		err = fmt.Errorf("%w: %w", ErrClosed, err)
		c.err = err
	}
	for id, w := range c.waiting {
		delete(c.waiting, id)
		w <- answer{err: err}
	}
}

// call sends a request and waits for its answer. ctx ends the waiting and not what the guest does.
func (c *Client) call(ctx context.Context, k kind, payload []byte) ([]byte, error) {
	if len(payload) > MaxPayload {
		return nil, fmt.Errorf("a request of %d bytes, at most %d are possible", len(payload), MaxPayload)
	}
	w := make(chan answer, 1)
	c.mu.Lock()
	if c.err != nil || c.held && k != kindRelease {
		err := c.err
		if err == nil {
			err = fmt.Errorf("%w: a checkpoint is being made", ErrBusy)
		}
		c.mu.Unlock()
		return nil, err
	}
	c.next++
	id := c.next
	c.waiting[id] = w
	c.mu.Unlock()
	f := frame{kind: k, id: id, payload: payload}
	if err := c.write(id, f.encode()); err != nil {
		c.forget(id)
		return nil, err
	}
	select {
	case a := <-w:
		switch {
		case a.err != nil:
			return nil, a.err
		case a.kind == k|kindAnswer|kindFailed:
			return nil, &RemoteError{string(a.payload[:min(len(a.payload), MaxText)])}
		case a.kind != k|kindAnswer:
			return nil, fmt.Errorf("the agent answers request %#x with %#x", uint16(k), uint16(a.kind))
		}
		return a.payload, nil
	case <-ctx.Done():
		c.forget(id)
		return nil, fmt.Errorf("no answer of the agent: %w", context.Cause(ctx))
	}
}

// write sends a frame, after what is left of one that was cut: of that the guest may get the header after it was put back, and would
// take what follows for its payload. A request that was given up meanwhile is not sent.
func (c *Client) write(id uint64, frame []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	c.mu.Lock()
	wanted := c.waiting[id] != nil
	c.mu.Unlock()
	if !wanted {
		return nil // its answer is there
	}
	frame = append(c.rest, frame...)
	n, err := c.conn.Write(frame)
	c.rest = frame[n:]
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return ErrCut
	case err != nil:
		return fmt.Errorf("%w: %w", ErrClosed, err)
	}
	return nil
}

func (c *Client) forget(id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, id)
}

// Hello asks the agent about itself.
func (c *Client) Hello(ctx context.Context) (Hello, error) {
	b, err := c.call(ctx, kindHello, nil)
	if err != nil {
		return Hello{}, err
	}
	return decodeHello(b)
}

// Ping returns when the agent has answered. It answers whatever else it does.
func (c *Client) Ping(ctx context.Context) error {
	_, err := c.call(ctx, kindPing, nil)
	return err
}

// within bounds the waiting for an answer of which the agent itself bounds the time.
func within(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, d+slack, fmt.Errorf("its time was up %v ago", slack))
}

// Run runs a command. That it fails is no error.
func (c *Client) Run(ctx context.Context, cmd Command) (Exit, error) {
	ctx, cancel := within(ctx, cmd.Timeout)
	defer cancel()
	b, err := c.call(ctx, kindRun, cmd.encode())
	if err != nil {
		return Exit{}, err
	}
	return decodeExit(b)
}

// Do performs a batch. That operations fail is no error.
func (c *Client) Do(ctx context.Context, batch Batch) (Done, error) {
	ctx, cancel := within(ctx, batch.Timeout)
	defer cancel()
	b, err := c.call(ctx, kindDo, batch.encode())
	if err != nil {
		return Done{}, err
	}
	d, err := decodeDone(b)
	if err == nil && len(d.Results) > len(batch.Ops) {
		err = fmt.Errorf("the agent gives %d results of %d operations", len(d.Results), len(batch.Ops))
	}
	return d, err
}

// ReadLog takes up to MaxData bytes out of the log of the RAM disks, for ramdisk.Reader. It waits so long for the first.
func (c *Client) ReadLog(ctx context.Context, wait time.Duration) ([]byte, error) {
	return c.readLog(ctx, kindLog, wait)
}

// ReadWrites is ReadLog of the log of fsw_ekm, for ekm.Reader.
func (c *Client) ReadWrites(ctx context.Context, wait time.Duration) ([]byte, error) {
	return c.readLog(ctx, kindWrites, wait)
}

func (c *Client) readLog(ctx context.Context, k kind, wait time.Duration) ([]byte, error) {
	r := logRequest{most: MaxData, wait: wait}
	ctx, cancel := within(ctx, wait)
	defer cancel()
	b, err := c.call(ctx, k, r.encode())
	if err == nil && len(b) > MaxData {
		err = fmt.Errorf("the agent gives %d bytes of the log, it was asked for %d", len(b), MaxData)
	}
	return b, err
}

// Hold readies the guest for a checkpoint: no request is under way, here or there, and the agent passes over what comes
// until Release. ErrBusy while requests other than pings are under way.
func (c *Client) Hold(ctx context.Context) error {
	c.mu.Lock()
	busy := len(c.waiting)
	c.mu.Unlock()
	if busy > 0 {
		return fmt.Errorf("%w: %d", ErrBusy, busy)
	}
	if _, err := c.call(ctx, kindHold, nil); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.waiting); n > 0 {
		return fmt.Errorf("%w: %d", ErrBusy, n)
	}
	c.held = true
	return nil
}

// Release ends what Hold began.
func (c *Client) Release(ctx context.Context) error {
	_, err := c.call(ctx, kindRelease, nil)
	if err == nil {
		c.mu.Lock()
		c.held = false
		c.mu.Unlock()
	}
	return err
}

// quiet is how long nothing comes before what the guest had sent is taken to be read.
const quiet = 20 * time.Millisecond

// Cut gives up all requests, with ErrCut, and what the guest has sent of answers. It is called while the guest's processors
// stand still; a checkpoint that was made after Hold is loaded then, and Release follows.
func (c *Client) Cut() error {
	c.mu.Lock()
	c.cutting, c.held = true, true
	reading := c.reading
	c.mu.Unlock()
	if err := c.conn.SetDeadline(time.Now()); err != nil { // ends the reader, and a write that QEMU does not take
		return err
	}
	<-reading
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := c.conn.SetWriteDeadline(time.Time{}); err != nil {
		return err
	}
	buf := make([]byte, 64<<10)
	for {
		if err := c.conn.SetReadDeadline(time.Now().Add(quiet)); err != nil {
			return err
		}
		_, err := c.conn.Read(buf)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		if err != nil {
			return err
		}
	}
	if err := c.conn.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	c.mu.Lock()
	c.cutting = false
	err := c.err
	c.mu.Unlock()
	if err == nil {
		c.startReading()
	}
	return err
}
