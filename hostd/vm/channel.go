package vm

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

// A Channel carries lines between the host and the guest's workload over a virtio-serial port. One
// goroutine at a time uses it.
type Channel struct {
	conn  net.Conn
	lines chan string // closed at the end
	where func() string
}

// newChannel reads lines from conn. where says where to look for the cause of an error.
func newChannel(conn net.Conn, where func() string) *Channel {
	c := &Channel{conn: conn, lines: make(chan string, 64), where: where}
	go func() {
		defer close(c.lines)
		s := bufio.NewScanner(conn)
		s.Buffer(make([]byte, 512), maxLine) // a longer line ends the channel
		for s.Scan() {
			c.lines <- printable(s.Bytes())
		}
	}()
	return c
}

// Send sends one line.
func (c *Channel) Send(line string) error {
	if err := c.conn.SetWriteDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(c.conn, "%s\n", line); err != nil {
		return fmt.Errorf("cannot send %q to the guest: %w; %s", line, err, c.where())
	}
	return nil
}

// ErrChannelEnded means that the guest is gone or has closed the channel.
var ErrChannelEnded = errors.New("the channel to the guest has ended")

// Receive returns the next line. If ctx ends, its error says where to look for the cause.
func (c *Channel) Receive(ctx context.Context) (string, error) {
	select {
	case line, ok := <-c.lines:
		if !ok {
			return "", fmt.Errorf("%w; %s", ErrChannelEnded, c.where())
		}
		return line, nil
	case <-ctx.Done():
		return "", fmt.Errorf("no answer from the guest: %w; %s", context.Cause(ctx), c.where())
	}
}

// Close closes the channel.
func (c *Channel) Close() error {
	err := c.conn.Close()
	for range c.lines { // lets the reader end
	}
	return err
}
