package vm

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Progress is what the workload in the guest has reported about one file system.
type Progress struct {
	Synced   int    // last round that is completely on the disk
	ReadOnly bool   // the guest's kernel refuses writes
	Failed   string // what failed although the file system is writable; "" if nothing
}

// A Workload drives guest/workload.sh over a channel. One goroutine at a time uses it.
type Workload struct {
	ch       *Channel
	progress map[string]*Progress
	// OnLine, if not nil, receives each line that the guest sends, such as "synced btrfs 7".
	OnLine func(string)
}

// NewWorkload returns the driver of the workload at the other end of ch.
func NewWorkload(ch *Channel) *Workload {
	return &Workload{ch: ch, progress: make(map[string]*Progress)}
}

// Ready waits until the file systems are made and mounted.
func (w *Workload) Ready(ctx context.Context) error { return w.until(ctx, "ready") }

// Go runs rounds on a file system and waits for them; if fs is "", on all that are writable. A file
// system that goes read-only is not an error: see Progress.
func (w *Workload) Go(ctx context.Context, rounds int, fs string) error {
	if err := w.ch.Send(strings.TrimSpace(fmt.Sprintf("go %d %s", rounds, fs))); err != nil {
		return err
	}
	return w.until(ctx, "done")
}

// Stop tells the workload to unmount and power off. Domain.Wait then waits for that.
func (w *Workload) Stop() error { return w.ch.Send("stop") }

// Progress returns what the guest has reported about a file system.
func (w *Workload) Progress(fs string) Progress {
	if p := w.progress[fs]; p != nil {
		return *p
	}
	return Progress{}
}

// until reads lines up to one that begins with word.
func (w *Workload) until(ctx context.Context, word string) error {
	for {
		line, err := w.ch.Receive(ctx)
		if err != nil {
			return fmt.Errorf("waiting for %q: %w", word, err)
		}
		if w.OnLine != nil {
			w.OnLine(line)
		}
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if f[0] == "error" {
			return fmt.Errorf("the guest reports: %s", strings.TrimPrefix(line, "error "))
		}
		w.note(f)
		if f[0] == word {
			return nil
		}
	}
}

// note keeps what a line says about a file system.
func (w *Workload) note(f []string) {
	if f[0] == "ready" {
		for _, fs := range f[1:] {
			w.progress[fs] = &Progress{}
		}
		return
	}
	if len(f) < 3 || w.progress[f[1]] == nil {
		return
	}
	p := w.progress[f[1]]
	round, err := strconv.Atoi(f[2])
	if err != nil {
		return
	}
	switch f[0] {
	case "synced":
		p.Synced = round
	case "readonly":
		p.ReadOnly = true
	case "failed":
		p.Failed = strings.Join(f[2:], " ")
	}
}
