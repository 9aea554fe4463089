// Package output writes results: through queues that no reader can stop, and with the keys that
// every JSON line has. Start reading at Queue and Lines.
package output

import (
	"fmt"
	"io"
	"sync"
	"time"
)

const (
	// DefaultBytes is the bound of a queue unless another is given: about 10,000 commits in JSON.
	DefaultBytes = 4 << 20
	// MinBytes is the least bound that a queue takes.
	MinBytes = 4 << 10
	// Overhead is what a waiting message counts beside its own bytes.
	Overhead = 64
	// Patience is how long Close waits for the reader. A supervisor waits longer before it kills.
	Patience = 5 * time.Second

	// retryPause is the time before a failed write is tried again: the log disk may have room then,
	// and a FIFO a new reader.
	retryPause = 500 * time.Millisecond
)

// A Queue is a writer that neither blocks nor fails. Its own goroutine gives the messages to a
// reader, which may be slow, stopped or gone. Each call of Write is one message. If the messages
// that wait exceed the bound, the Queue drops all new ones until the reader has taken half of what
// waits. Then a notice with the number of dropped messages takes their place. A Queue is safe for
// concurrent use.
type Queue struct {
	name   string
	w      io.Writer
	notice func(dropped uint64) []byte
	limit  int

	mu      sync.Mutex
	waiting []message // in their order; the first one is being written
	bytes   int       // of them, with Overhead
	gap     uint64    // messages dropped since the last notice
	counts  Counts

	wake    chan struct{} // has room for one token, which says that something has changed
	closing chan struct{} // closed when Close begins
	done    chan struct{} // closed when the goroutine has ended
}

type message struct {
	text   []byte
	notice bool
}

// Counts says what became of the messages of a queue.
type Counts struct {
	Name     string `json:"name"`
	Messages uint64 `json:"messages"` // all so far, without notices
	Waiting  uint64 `json:"waiting"`  // not yet taken by the reader, without notices
	Dropped  uint64 `json:"dropped"`
}

// NewQueue returns a queue that gives its messages to w and holds at most limit bytes; 0 means
// DefaultBytes. One message may be longer than that. Messages count as taken once w has taken them:
// what a pipe holds when its reader dies is lost without notice. notice returns the message for a
// number of dropped messages.
func NewQueue(name string, w io.Writer, limit int, notice func(dropped uint64) []byte) *Queue {
	if limit == 0 {
		limit = DefaultBytes
	}
	q := &Queue{name: name, w: w, notice: notice, limit: limit, wake: make(chan struct{}, 1),
		closing: make(chan struct{}), done: make(chan struct{})}
	go q.deliver()
	return q
}

// TextNotice returns a notice for people about messages of a kind: "reports".
func TextNotice(kind string) func(dropped uint64) []byte {
	return func(dropped uint64) []byte {
		return fmt.Appendf(nil, "fsward: %d %s were dropped here: the reader did not take them\n",
			dropped, kind)
	}
}

// Write queues a copy of a message, or drops it. It returns at once, with len(p) and no error.
func (q *Queue) Write(p []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.counts.Messages++
	if q.gap > 0 || len(q.waiting) > 0 && q.bytes+len(p)+Overhead > q.limit || q.closed() {
		q.gap++
		q.counts.Dropped++
		return len(p), nil
	}
	q.add(message{text: append([]byte(nil), p...)})
	return len(p), nil
}

// Sync does nothing. zap calls it.
func (q *Queue) Sync() error { return nil }

// add appends a message. The caller holds q.mu.
func (q *Queue) add(m message) {
	q.waiting = append(q.waiting, m)
	q.bytes += len(m.text) + Overhead
	if !m.notice {
		q.counts.Waiting++
	}
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (q *Queue) closed() bool {
	select {
	case <-q.closing:
		return true
	default:
		return false
	}
}

// Counts returns what became of the messages so far.
func (q *Queue) Counts() Counts {
	q.mu.Lock()
	defer q.mu.Unlock()
	c := q.counts
	c.Name = q.name
	return c
}

// Close waits until the reader has taken every message, for at most the given time. It does not
// wait for a reader whose last write failed. What still waits then is dropped. It returns the final
// counts; call it once. If the reader is stuck, the goroutine stays until the process ends.
func (q *Queue) Close(patience time.Duration) Counts {
	q.mu.Lock()
	close(q.closing)
	q.mu.Unlock()
	select {
	case <-q.done:
	case <-time.After(patience):
	}
	c := q.Counts()
	c.Dropped += c.Waiting
	c.Waiting = 0
	return c
}

// deliver writes the messages, one after the other.
func (q *Queue) deliver() {
	defer close(q.done)
	for {
		text, ok := q.first()
		if !ok {
			select {
			case <-q.wake:
				continue
			case <-q.closing:
				if _, ok := q.first(); ok {
					continue // a message came before the end
				}
				return
			}
		}
		if !q.write(text) {
			return
		}
		q.taken()
	}
}

// first returns the first message that waits; false if there is none.
func (q *Queue) first() ([]byte, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		return nil, false
	}
	return q.waiting[0].text, true
}

// taken removes the first message. If there is room again after a gap, it adds the notice.
func (q *Queue) taken() {
	q.mu.Lock()
	defer q.mu.Unlock()
	m := q.waiting[0]
	q.waiting[0] = message{}
	q.waiting = q.waiting[1:]
	q.bytes -= len(m.text) + Overhead
	if !m.notice {
		q.counts.Waiting--
	}
	if q.gap > 0 && q.bytes <= q.limit/2 {
		gap := q.gap
		q.gap = 0
		q.add(message{text: q.notice(gap), notice: true})
	}
}

// write writes a message. After an error it goes on with the rest of the message a while later. It
// returns false if a write failed and the queue is closing.
func (q *Queue) write(text []byte) bool {
	for {
		n, err := q.w.Write(text)
		if err == nil {
			return true
		}
		text = text[n:]
		if q.closed() {
			return false
		}
		select {
		case <-time.After(retryPause):
		case <-q.closing: // one last attempt
		}
	}
}
