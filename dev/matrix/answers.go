package matrix

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// answers keeps the answers of a peer in a file, one JSON object a line. A run that was interrupted
// continues with them.
type answers struct {
	mu    sync.Mutex
	f     *os.File
	known map[string]Peer
}

// An answer is one line of the file.
type answer struct {
	ID string `json:"id"`
	Peer
}

func openAnswers(path string) (*answers, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	a := &answers{f: f, known: make(map[string]Peer)}
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var line answer
		// an interrupted run may leave an incomplete last line
		if json.Unmarshal(in.Bytes(), &line) == nil {
			a.known[line.ID] = line.Peer
		}
	}
	return a, in.Err()
}

func (a *answers) close() { _ = a.f.Close() }

func (a *answers) get(id string) (Peer, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	p, ok := a.known[id]
	return p, ok
}

func (a *answers) put(id string, p Peer) error {
	line, err := json.Marshal(answer{id, p})
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.known[id] = p
	_, err = a.f.Write(append(line, '\n'))
	return err
}

// progress prints each miss, and the number of finished cells every ten seconds.
type progress struct {
	mu             sync.Mutex
	w              io.Writer
	total, done    int
	missed         int
	start, printed time.Time // printed: when the last count was printed
}

func newProgress(w io.Writer, total int) *progress {
	return &progress{w: w, total: total, start: time.Now(), printed: time.Now()}
}

func (p *progress) step(r *Row) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	if r.Missed() {
		p.missed++
		fmt.Fprintf(p.w, "missed: %s: %s\n", r.ID(), r.Check.Message)
	}
	if now := time.Now(); p.done == p.total || now.Sub(p.printed) > 10*time.Second {
		p.printed = now
		left := now.Sub(p.start) / time.Duration(p.done) * time.Duration(p.total-p.done)
		fmt.Fprintf(p.w, "%d of %d cells, %d missed, %s left\n", p.done, p.total, p.missed,
			left.Round(time.Second))
	}
}
