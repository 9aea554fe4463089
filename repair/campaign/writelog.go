package campaign

import (
	"bytes"
	"context"
	"sync"

	"fsward/blocktap"
	"fsward/explore/crash"
	"fsward/interp"
)

// writeLog records the writes of a repair as events, in one order: those to the image, which is
// disk 0, and those to the undo file, which is disk 1.
type writeLog struct {
	mu     sync.Mutex
	events []crash.Event
}

// issue records a write to a disk, and returns its number in the log. The caller gives up data.
func (l *writeLog) issue(disk int, off, length uint64, data []byte) (id uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	id = uint64(len(l.events)) + 1
	l.events = append(l.events, crash.Event{Kind: crash.Issued, At: id,
		Write: crash.Write{ID: id, Off: interp.Address(disk, off), Len: length, Data: data}})
	return id
}

// settle records that writes are durable.
func (l *writeLog) settle(ids []uint64) {
	if len(ids) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, crash.Event{Kind: crash.Settled, At: uint64(len(l.events)) + 1,
		IDs: ids})
}

func (l *writeLog) all(yield func(crash.Event, error) bool) {
	for _, ev := range l.events {
		if !yield(ev, nil) {
			return
		}
	}
}

// lost counts the writes to each disk that are not in a crash state, although they were issued.
func (l *writeLog) lost(s *crash.State) (image, undo int) {
	for _, id := range s.Missing() {
		if disk, _ := interp.Locate(l.events[id-1].Write.Off); disk == 0 {
			image++
		} else {
			undo++
		}
	}
	return image, undo
}

// imageLog is the hook that records the writes to the image.
type imageLog struct {
	log     *writeLog
	mu      sync.Mutex
	pending []numbered
}

// numbered is a write that is not durable yet.
type numbered struct{ seq, id uint64 }

// Handle performs a write and records it.
func (l *imageLog) Handle(_ context.Context, r *blocktap.Request, do func() error) error {
	if err := do(); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	id := l.log.issue(0, r.Off, r.Len, bytes.Clone(r.Data))
	if r.FUA {
		l.log.settle([]uint64{id})
	} else {
		l.pending = append(l.pending, numbered{r.Seq, id})
	}
	return nil
}

// Flushing does nothing: what a flush covers is known when it ends.
func (l *imageLog) Flushing() {}

// Flushed records that the writes up to number seq are durable.
func (l *imageLog) Flushed(seq uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var ids []uint64
	var rest []numbered
	for _, p := range l.pending {
		if p.seq <= seq {
			ids = append(ids, p.id)
		} else {
			rest = append(rest, p)
		}
	}
	l.pending = rest
	l.log.settle(ids)
}

// maxUndo bounds an undo file, in bytes.
const maxUndo = spare

// undoLog records the writes to the undo file, in whole sectors.
type undoLog struct {
	log     *writeLog
	data    []byte // of the file
	pending []uint64
}

// Wrote records a write.
func (l *undoLog) Wrote(off uint64, data []byte) {
	const sector = crash.SectorSize
	from := off / sector * sector
	end := (off + uint64(len(data)) + sector - 1) / sector * sector
	if n := uint64(len(l.data)); end > n {
		l.data = append(l.data, make([]byte, end-n)...)
	}
	copy(l.data[off:], data)
	l.pending = append(l.pending, l.log.issue(1, from, end-from, bytes.Clone(l.data[from:end])))
}

// Flushed records that all writes so far are durable.
func (l *undoLog) Flushed() {
	l.log.settle(l.pending)
	l.pending = nil
}
