package live

import (
	"bytes"

	"fsward/blocktap/trace"
)

// performed leaves out the entries of a log that were not performed. A mark after an entry says
// that a guard refused it. So an entry is held back until the next change shows that no such mark
// comes.
type performed struct{ held []*trace.Entry }

// zeroPiece is the length in bytes of the entries that one request for zeros is recorded as.
const zeroPiece = 1 << 20

// add takes the next entry, and returns the entries that are known to be performed, in order.
// Marks are not returned.
func (p *performed) add(e *trace.Entry) ([]*trace.Entry, error) {
	if e.Flags&trace.Mark != 0 {
		first, end, undone, err := e.Undone()
		if err != nil || !undone {
			return nil, err
		}
		kept := p.held[:0]
		for _, h := range p.held {
			if isFlush(h) || h.Index < first || h.Index >= end {
				kept = append(kept, h)
			}
		}
		p.held = kept
		return p.release(), nil
	}
	own := *e
	own.Data = bytes.Clone(e.Data)
	if len(bytes.TrimLeft(own.Data, "\x00")) == 0 {
		own.Data = nil // zeros
	}
	switch {
	case len(p.held) == 0:
	case isFlush(&own):
		if isFlush(p.held[len(p.held)-1]) {
			return nil, nil // a second one adds nothing
		}
	case !p.continues(&own):
		out := p.release()
		p.held = append(p.held, &own)
		return out, nil
	}
	p.held = append(p.held, &own)
	if len(p.held) == 1 && isFlush(&own) {
		return p.release(), nil
	}
	return nil, nil
}

// release returns what is held back.
func (p *performed) release() []*trace.Entry {
	out := p.held
	p.held = nil
	return out
}

// continues reports whether a change may be of the same request as the last one that is held back:
// a piece of one entry, or another piece of zeros.
func (p *performed) continues(e *trace.Entry) bool {
	for i := len(p.held) - 1; i >= 0; i-- {
		last := p.held[i]
		if isFlush(last) {
			continue
		}
		return last.Index == e.Index || last.Len == zeroPiece && last.Data == nil && e.Data == nil &&
			last.Off+last.Len == e.Off
	}
	return true // only flushes
}

func isFlush(e *trace.Entry) bool { return e.Len == 0 && e.Flags&trace.Discard == 0 }
