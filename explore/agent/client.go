package agent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Errors of a Client.
var (
	ErrClosed = errors.New("the connection to the agent has ended")
	ErrCut    = errors.New("the guest is being restored to a checkpoint")
	ErrBusy   = errors.New("requests are in progress")
)

// A RemoteError is a request that the agent could not perform, with its reason. The agent may have
// performed part of the request.
type RemoteError struct{ Text string }

func (e *RemoteError) Error() string { return "the agent reports: " + e.Text }

// answerSlack is how long a client waits for an answer after the request's own time-out.
const answerSlack = 20 * time.Second

// Client is the host's side of the port. It is safe for concurrent use; requests run concurrently.
type Client struct {
	conn net.Conn

	answers atomic.Uint64 // frames that were received

	writing sync.Mutex // serializes the writing of frames
	// unsent is the rest of a frame that Cut interrupted. The agent may have read the part before it,
	// and would read the next bytes as the rest of that frame.
	unsent []byte

	mu      sync.Mutex
	next    uint64                 // id of the last request
	waiting map[uint64]chan answer // requests without an answer, by id
	held    bool                   // only Release may be sent
	err     error                  // why reading ended for good; nil while it goes on
	cutting bool                   // Cut is in progress
	reading chan struct{}          // closed when the reader has ended
}

// An answer is the agent's answer to a request, or the error that ended the wait for it.
type answer struct {
	kind    kind
	payload []byte
	err     error
}

// NewClient returns a client of the agent at the other end of conn, a port of the guest. Close
// closes conn.
func NewClient(conn net.Conn) *Client {
	c := &Client{conn: conn, waiting: make(map[uint64]chan answer)}
	c.startReading()
	return c
}

// Close closes the connection. All requests fail with ErrClosed.
func (c *Client) Close() error {
	err := c.conn.Close()
	<-c.reader()
	return err
}

// Answers returns the number of answers so far. While it grows, the agent is alive.
func (c *Client) Answers() uint64 { return c.answers.Load() }

// reader returns a channel that is closed when the reader has ended.
func (c *Client) reader() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reading
}

// startReading starts the goroutine that reads answers and hands them to the requests.
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
			c.answers.Add(1)
			c.mu.Lock()
			w := c.waiting[f.id]
			delete(c.waiting, f.id)
			c.mu.Unlock()
			if w != nil { // nil: the caller gave the request up
				w <- answer{kind: f.kind, payload: f.payload}
			}
		}
	}()
}

// ended fails all requests with ErrCut if Cut ended the reader, and otherwise with ErrClosed. After
// ErrClosed the client stays closed.
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

// call sends a request and waits for its answer. When ctx ends, call returns, and the guest still
// performs the request.
func (c *Client) call(ctx context.Context, k kind, payload []byte) ([]byte, error) {
	if len(payload) > MaxPayload {
		return nil, fmt.Errorf("the request has %d bytes, the limit is %d", len(payload), MaxPayload)
	}
	id, w, err := c.register(k)
	if err != nil {
		return nil, err
	}
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
			return nil, fmt.Errorf("the agent answered request %#x with %#x", uint16(k), uint16(a.kind))
		}
		return a.payload, nil
	case <-ctx.Done():
		c.forget(id)
		return nil, fmt.Errorf("no answer from the agent: %w", context.Cause(ctx))
	}
}

// register enters a new request into the table of requests, and returns its id and the channel that
// receives its answer. It fails when the client is closed, and with ErrBusy while it is held.
func (c *Client) register(k kind) (id uint64, w chan answer, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return 0, nil, c.err
	}
	if c.held && k != kindRelease {
		return 0, nil, fmt.Errorf("%w: a checkpoint is in progress", ErrBusy)
	}
	w = make(chan answer, 1)
	c.next++
	c.waiting[c.next] = w
	return c.next, w, nil
}

// write sends a frame. It first sends the rest of a frame that Cut interrupted: a restored guest
// may read the header of that frame, and would take the new frame for its payload. write does not
// send a request that was given up in the meantime.
func (c *Client) write(id uint64, frame []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	c.mu.Lock()
	wanted := c.waiting[id] != nil
	c.mu.Unlock()
	if !wanted {
		return nil // the channel of the request has an error already
	}
	frame = append(c.unsent, frame...)
	n, err := c.conn.Write(frame)
	c.unsent = frame[n:]
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return ErrCut
	case err != nil:
		return fmt.Errorf("%w: %w", ErrClosed, err)
	}
	return nil
}

// forget gives a request up. Its answer is dropped.
func (c *Client) forget(id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, id)
}

// Hello asks the agent for the guest's kernel, boot and uptime.
func (c *Client) Hello(ctx context.Context) (Hello, error) {
	b, err := c.call(ctx, kindHello, nil)
	if err != nil {
		return Hello{}, err
	}
	return decodeHello(b)
}

// Ping returns when the agent has answered. The agent answers pings at once, whatever other
// requests it performs.
func (c *Client) Ping(ctx context.Context) error {
	_, err := c.call(ctx, kindPing, nil)
	return err
}

// within bounds the wait for the answer to a request that the agent ends after d.
func within(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	cause := fmt.Errorf("the request timed out %v ago", answerSlack)
	return context.WithTimeoutCause(ctx, d+answerSlack, cause)
}

// Run runs a command. A command that fails is not an error of Run.
func (c *Client) Run(ctx context.Context, cmd Command) (Exit, error) {
	ctx, cancel := within(ctx, cmd.Timeout)
	defer cancel()
	b, err := c.call(ctx, kindRun, cmd.encode())
	if err != nil {
		return Exit{}, err
	}
	return decodeExit(b)
}

// Do performs a batch. An operation that fails is not an error of Do.
func (c *Client) Do(ctx context.Context, batch Batch) (Done, error) {
	ctx, cancel := within(ctx, batch.Timeout)
	defer cancel()
	b, err := c.call(ctx, kindDo, batch.encode())
	if err != nil {
		return Done{}, err
	}
	d, err := decodeDone(b)
	if err == nil && len(d.Results) > len(batch.Ops) {
		err = fmt.Errorf("the agent returned %d results for %d operations",
			len(d.Results), len(batch.Ops))
	}
	return d, err
}

// ReadLog takes up to MaxData bytes from the log of the RAM disks, for ramdisk.Reader. It waits at
// most wait for the first byte, and returns no bytes if there is none by then.
func (c *Client) ReadLog(ctx context.Context, wait time.Duration) ([]byte, error) {
	return c.readLog(ctx, kindLog, wait)
}

// ReadWrites is ReadLog for the log of fsw_ekm, for ekm.Reader.
func (c *Client) ReadWrites(ctx context.Context, wait time.Duration) ([]byte, error) {
	return c.readLog(ctx, kindWrites, wait)
}

// readLog reads a log by a request of kind k.
func (c *Client) readLog(ctx context.Context, k kind, wait time.Duration) ([]byte, error) {
	r := logRequest{most: MaxData, wait: wait}
	ctx, cancel := within(ctx, wait)
	defer cancel()
	b, err := c.call(ctx, k, r.encode())
	if err == nil && len(b) > MaxData {
		err = fmt.Errorf("the agent returned %d bytes of the log, the limit is %d", len(b), MaxData)
	}
	return b, err
}

// Hold prepares the guest for a checkpoint. Afterwards no request is in progress on either side,
// and the agent ignores requests until Release. Hold fails with ErrBusy while requests are in
// progress.
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

// Release ends Hold or Cut: requests are possible again.
func (c *Client) Release(ctx context.Context) error {
	_, err := c.call(ctx, kindRelease, nil)
	if err == nil {
		c.mu.Lock()
		c.held = false
		c.mu.Unlock()
	}
	return err
}

// Cut fails all requests with ErrCut, and drops the answers that the guest has sent. The caller
// first stops the guest's processors. After Cut it loads a checkpoint that was made after Hold, and
// calls Release.
func (c *Client) Cut() error {
	c.mu.Lock()
	c.cutting, c.held = true, true
	reading := c.reading
	c.mu.Unlock()
	// The deadline ends the reader, and a write whose bytes QEMU does not read.
	if err := c.conn.SetDeadline(time.Now()); err != nil {
		return err
	}
	<-reading
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := c.conn.SetWriteDeadline(time.Time{}); err != nil {
		return err
	}
	if err := c.drain(); err != nil {
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

// drainQuiet is how long drain waits for another byte before it stops.
const drainQuiet = 20 * time.Millisecond

// drain drops the bytes that the guest has sent, until none comes for drainQuiet.
func (c *Client) drain() error {
	buf := make([]byte, 64<<10)
	for {
		if err := c.conn.SetReadDeadline(time.Now().Add(drainQuiet)); err != nil {
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
	return c.conn.SetReadDeadline(time.Time{})
}
