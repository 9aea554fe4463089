package crash

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"fsward/blocktap/trace"
)

// FromTrace converts a dm-log-writes log. Its entries are in the order in which the disk performed
// them: a flush makes all writes before it durable, and a write with FUA makes itself durable. A
// discarded range counts as a write of zeros. The number of an entry is the ID of its write; an
// entry longer than trace.MaxData is several writes with the same ID.
func FromTrace(r *trace.Reader) Events {
	return func(yield func(Event, error) bool) {
		for {
			e, err := r.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(Event{}, err)
				return
			}
			for _, ev := range EntryEvents(e) {
				if !yield(ev, nil) {
					return
				}
			}
		}
	}
}

// EntryEvents converts one entry of a dm-log-writes log, as FromTrace does.
func EntryEvents(e *trace.Entry) (events []Event) {
	if e.Flags&trace.Mark != 0 {
		return []Event{{Kind: Marked, At: e.Index, Mark: e.Mark}}
	}
	if e.Flags&trace.Flush != 0 {
		events = append(events, Event{Kind: Settled, At: e.Index, All: true})
	}
	if e.Len == 0 {
		return events
	}
	w := Write{ID: e.Index, Off: e.Off, Len: e.Len, Data: bytes.Clone(e.Data)}
	events = append(events, Event{Kind: Issued, At: e.Index, Write: w})
	if e.Flags&trace.FUA != 0 {
		events = append(events, Event{Kind: Settled, At: e.Index, IDs: []uint64{e.Index}})
	}
	return events
}

// OpenTrace is FromTrace of the log in a file. It opens the file anew for each iteration.
func OpenTrace(path string) Events {
	return func(yield func(Event, error) bool) {
		f, err := trace.Open(path)
		if err != nil {
			yield(Event{}, err)
			return
		}
		defer f.Close()
		for ev, err := range FromTrace(f.Reader) {
			if err != nil {
				err = fmt.Errorf("%s: %w", path, err)
			}
			if !yield(ev, err) {
				return
			}
		}
	}
}
