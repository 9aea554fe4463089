package output_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"fsward/hostd/output"
)

// A reader takes what a queue writes. While it is stopped, it blocks; while err is set, it fails.
type reader struct {
	stopped sync.Mutex
	mu      sync.Mutex
	taken   bytes.Buffer
	err     error
	part    int // bytes that a failing write takes
}

func (r *reader) Write(p []byte) (int, error) {
	r.stopped.Lock()
	defer r.stopped.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		n := min(r.part, len(p))
		r.part -= n
		r.taken.Write(p[:n])
		return n, r.err
	}
	return r.taken.Write(p)
}

func (r *reader) fail(err error, part int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err, r.part = err, part
}

// lines returns the complete lines taken so far.
func (r *reader) lines() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := strings.Split(r.taken.String(), "\n")
	return all[:len(all)-1]
}

func notice(dropped uint64) []byte { return fmt.Appendf(nil, "dropped %d\n", dropped) }

// until waits until a condition holds.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for range 3000 {
		if holds() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("never happened: %s", what)
}

// account checks that each message from 0 on was received in order or is counted by a notice in
// its place. It returns the number received and the number that notices count.
func account(t *testing.T, lines []string) (received, dropped int) {
	t.Helper()
	for _, line := range lines {
		var n int
		if _, err := fmt.Sscanf(line, "dropped %d", &n); err == nil {
			dropped += n
			continue
		}
		if want := fmt.Sprintf("message %d", received+dropped); line != want {
			t.Fatalf("received %q, want %q", line, want)
		}
		received++
	}
	return received, dropped
}

// TestQueueOfStoppedReader checks that nothing blocks while the reader has stopped, that the bound
// holds, and that the notices count exactly what is missing, in its place.
func TestQueueOfStoppedReader(t *testing.T) {
	r := &reader{}
	q := output.NewQueue("test", r, output.MinBytes, notice)
	sent := 0
	send := func(n int) {
		for range n {
			fmt.Fprintf(q, "message %d\n", sent)
			sent++
		}
	}
	for range 3 {
		r.stopped.Lock()
		send(1000)
		c := q.Counts()
		if c.Dropped == 0 || c.Waiting == 0 || c.Waiting*output.Overhead > output.MinBytes {
			t.Errorf("while the reader has stopped: %+v", c)
		}
		r.stopped.Unlock()
		// No message follows: the notice comes by itself.
		until(t, "all is accounted for", func() bool {
			received, dropped := account(t, r.lines())
			return received+dropped == sent
		})
		send(5)
	}
	c := q.Close(time.Minute)
	received, dropped := account(t, r.lines())
	if received+dropped != sent || c.Messages != uint64(sent) || c.Dropped != uint64(dropped) {
		t.Errorf("%d sent, %d received, %d dropped; counts %+v", sent, received, dropped, c)
	}
}

// TestQueueOfFailingReader checks that a write that failed in the middle of a message goes on where
// it ended, as when a full disk has room again.
func TestQueueOfFailingReader(t *testing.T) {
	r := &reader{}
	q := output.NewQueue("test", r, output.MinBytes, notice)
	r.fail(errors.New("no space left on device"), 15)
	sent := 1000
	for i := range sent {
		fmt.Fprintf(q, "message %d\n", i)
	}
	if c := q.Counts(); c.Dropped == 0 {
		t.Errorf("the disk is full: %+v", c)
	}
	r.fail(nil, 0)
	until(t, "all is accounted for", func() bool {
		received, dropped := account(t, r.lines())
		return received+dropped == sent
	})
	q.Close(time.Minute)
}

// TestQueueCloses checks that Close does not wait for a reader that fails, waits no longer than it
// was told for one that has stopped, and counts what they did not take.
func TestQueueCloses(t *testing.T) {
	r := &reader{}
	r.fail(errors.New("broken pipe"), 0)
	q := output.NewQueue("test", r, 0, notice)
	for i := range 10 {
		fmt.Fprintf(q, "message %d\n", i)
	}
	if c := q.Close(time.Hour); c.Dropped != 10 || c.Waiting != 0 {
		t.Errorf("dead reader: %+v", c)
	}
	r = &reader{}
	r.stopped.Lock()
	defer r.stopped.Unlock()
	q = output.NewQueue("test", r, 0, notice)
	for i := range 10 {
		fmt.Fprintf(q, "message %d\n", i)
	}
	if c := q.Close(time.Millisecond); c.Dropped != 10 || c.Waiting != 0 {
		t.Errorf("stopped reader: %+v", c)
	}
	fmt.Fprintln(q, "too late")
	if c := q.Counts(); c.Messages != 11 || c.Dropped != 1 {
		t.Errorf("after the end: %+v", c)
	}
}

// TestQueueTakesOneLongMessage checks that a message beyond the bound is not impossible to report.
func TestQueueTakesOneLongMessage(t *testing.T) {
	r := &reader{}
	q := output.NewQueue("test", r, output.MinBytes, notice)
	long := strings.Repeat("x", 10*output.MinBytes)
	fmt.Fprintln(q, long)
	if c := q.Close(time.Minute); c.Dropped != 0 || r.lines()[0] != long {
		t.Errorf("%+v", c)
	}
}
