package crash

import (
	"bytes"
	"errors"
	"io"

	"fsward/blocktap/trace"
)

// FromTrace reads a dm-log-writes log. Its entries stand in the order in which the disk performed them: a flush makes all
// writes before it durable, and a FUA write itself. A discarded range counts as one that becomes zeros. The number of an
// entry is its write's ID; of an entry longer than trace.MaxData all pieces have it.
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
			if e.Flags&trace.Mark != 0 {
				if !yield(Event{Kind: Marked, At: e.Index, Mark: e.Mark}, nil) {
					return
				}
				continue
			}
			if e.Flags&trace.Flush != 0 && !yield(Event{Kind: Settled, At: e.Index, All: true}, nil) {
				return
			}
			if e.Len == 0 {
				continue
			}
			w := Write{ID: e.Index, Off: e.Off, Len: e.Len, Data: bytes.Clone(e.Data)}
			if !yield(Event{Kind: Issued, At: e.Index, Write: w}, nil) {
				return
			}
			if e.Flags&trace.FUA != 0 && !yield(Event{Kind: Settled, At: e.Index, IDs: []uint64{e.Index}}, nil) {
				return
			}
		}
	}
}

// OpenTrace is FromTrace of a file, which is opened anew each time that the log is gone through.
func OpenTrace(path string) Events {
	return func(yield func(Event, error) bool) {
		f, err := trace.Open(path)
		if err != nil {
			yield(Event{}, err)
			return
		}
		defer f.Close()
		FromTrace(f.Reader)(yield)
	}
}
