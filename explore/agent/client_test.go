package agent

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// awaitRequest returns when a request is in progress.
func (c *Client) awaitRequest() {
	for {
		c.mu.Lock()
		n := len(c.waiting)
		c.mu.Unlock()
		if n > 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// startSleep starts a command that sleeps, waits until it is in progress, and returns the channel
// for its error.
func startSleep(t *testing.T, c *Client, seconds string) <-chan error {
	t.Helper()
	ended := make(chan error, 1)
	go func() {
		_, err := c.Run(t.Context(), Command{Args: []string{"sleep", seconds}, Timeout: time.Minute})
		ended <- err
	}()
	c.awaitRequest()
	return ended
}

// TestHoldAndCut checks that the agent performs no request during a checkpoint, and that both sides
// continue after a restore has interrupted their streams.
func TestHoldAndCut(t *testing.T) {
	c := connected(t)
	ctx := t.Context()
	slow := startSleep(t, c, "0.3")
	if err := c.Hold(ctx); !errors.Is(err, ErrBusy) {
		t.Errorf("with a request in progress: %v", err)
	}
	if err := <-slow; err != nil {
		t.Fatal(err)
	}
	if err := c.Hold(ctx); err != nil {
		t.Fatal(err)
	}
	if err := c.Ping(ctx); !errors.Is(err, ErrBusy) {
		t.Errorf("a request during a hold: %v", err)
	}
	// The server must ignore a request, and a part of a frame, that it reads during the hold.
	file := filepath.Join(t.TempDir(), "made")
	b := Batch{Ops: []Op{Mkdir(file, 0o700)}, Timeout: time.Minute}
	f := frame{kind: kindDo, id: 1 << 40, payload: b.encode()}
	stale := f.encode()
	if _, err := c.conn.Write(append(stale, stale[7:]...)); err != nil {
		t.Fatal(err)
	}
	if err := c.Release(ctx); err != nil {
		t.Fatal(err)
	}
	if err := c.Ping(ctx); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Error("the agent performed a request during a hold")
	}

	slow = startSleep(t, c, "0.2")
	if err := c.Cut(); err != nil {
		t.Fatal(err)
	}
	if err := <-slow; !errors.Is(err, ErrCut) {
		t.Errorf("a request that was in progress at Cut: %v", err)
	}
	if err := c.Release(ctx); err != nil {
		t.Fatal(err)
	}
	// The answer to the request that Cut ended comes meanwhile, and must be dropped.
	time.Sleep(300 * time.Millisecond)
	if err := c.Ping(ctx); err != nil {
		t.Error(err)
	}
}

// TestCutRequest checks that a restored guest receives Release, at whatever byte Cut interrupted
// the request that the host was sending, and however much of that request the guest had read before
// the checkpoint.
func TestCutRequest(t *testing.T) {
	file := filepath.Join(t.TempDir(), "made")
	batch := Batch{Ops: []Op{Write(0, 0, make([]byte, 200_000)), Mkdir(file, 0o700)},
		Timeout: time.Minute}
	for _, sent := range []int{7, headerSize, headerSize + 1, 100_000} {
		for _, taken := range []int{0, 1, headerSize, headerSize + 500} {
			if taken > sent {
				continue
			}
			host, guest := net.Pipe()
			c := NewClient(host)
			asked := make(chan error, 1)
			go func() {
				_, err := c.Do(t.Context(), batch)
				asked <- err
			}()
			part := make([]byte, sent)
			if _, err := io.ReadFull(guest, part); err != nil {
				t.Fatal(err)
			}
			if err := c.Cut(); err != nil {
				t.Fatal(err)
			}
			if err := <-asked; !errors.Is(err, ErrCut) {
				t.Errorf("the request that Cut interrupted: %v", err)
			}
			// The restored guest is held, and reads the bytes that it had not read at the checkpoint.
			hold := frame{kind: kindHold, id: 1 << 40}
			served := make(chan error, 1)
			go func() {
				in := io.MultiReader(bytes.NewReader(hold.encode()), bytes.NewReader(part[taken:]), guest)
				served <- NewServer(struct {
					io.Reader
					io.Writer
				}{in, guest}).Serve()
			}()
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			if err := c.Release(ctx); err != nil {
				t.Fatalf("%d bytes sent, %d of them read before: %v", sent, taken, err)
			}
			if err := c.Ping(ctx); err != nil {
				t.Error(err)
			}
			cancel()
			if err := errors.Join(c.Close(), <-served); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Error("the agent performed a request that Cut interrupted")
	}
}

// TestClosed checks that requests fail when the guest has closed the connection.
func TestClosed(t *testing.T) {
	host, guest := net.Pipe()
	c := NewClient(host)
	_ = guest.Close()
	for range 3 {
		if err := c.Ping(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("the connection has ended, and Ping returns %v", err)
		}
	}
	_ = c.Close()
}

// TestDoneOfAClockThatWentBack checks that Took is 0 if the guest's clock went back during a batch.
func TestDoneOfAClockThatWentBack(t *testing.T) {
	d := Done{Took: -5 * time.Millisecond, Results: []Result{{Value: 7}}}
	got, err := decodeDone(d.encode())
	if err != nil || got.Took != 0 || len(got.Results) != 1 || got.Results[0].Value != 7 {
		t.Errorf("%+v, %v", got, err)
	}
}
