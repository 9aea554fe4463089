package crash

import "slices"

// A span is a contiguous range of the disk with its new contents.
type span struct {
	off, len uint64
	data     []byte // nil: zeros
}

// A unit is a write in flight, or a part of a write that can be on the disk without the other
// parts.
type unit struct {
	id       uint64 // of the write
	writeOff uint64 // where the issued write begins
	seq      uint64 // units are applied in this order
	spans    []span // usually one
	fresh    bool   // entered after the last point at which all states were formed
	dirty    bool   // entered by Dirtied: the kernel can write it at any moment
	issuedAs uint64 // of a dirty unit: ID of the issued write with these contents; 0: none
	steps    uint32 // number of levels above 0: 1, or the number of sectors if writes can be torn
}

// bytes returns the number of bytes that the unit changes.
func (u *unit) bytes() (n uint64) {
	for _, s := range u.spans {
		n += s.len
	}
	return n
}

// split makes units of a write. They end at multiples of size; a size of 0 makes one unit.
func split(w Write, size uint64) (units []*unit) {
	for off, end := w.Off, w.Off+w.Len; off < end; {
		next := end
		if size > 0 {
			next = min(end, (off/size+1)*size)
		}
		s := span{off: off, len: next - off}
		if w.Data != nil {
			s.data = w.Data[off-w.Off : next-w.Off]
		}
		units = append(units, &unit{id: w.ID, writeOff: w.Off, spans: []span{s}, fresh: true})
		off = next
	}
	return units
}

// subtract removes a range from a unit, because a later write to it hides what the unit wrote
// there.
func (u *unit) subtract(off, n uint64) {
	if !u.overlaps(off, n) {
		return
	}
	var left []span
	for _, s := range u.spans {
		if s.off+s.len <= off || off+n <= s.off {
			left = append(left, s)
			continue
		}
		if s.off < off {
			left = append(left, s.sub(s.off, off))
		}
		if off+n < s.off+s.len {
			left = append(left, s.sub(off+n, s.off+s.len))
		}
	}
	u.spans = left
}

// overlaps reports whether a unit writes to a range.
func (u *unit) overlaps(off, n uint64) bool {
	return slices.ContainsFunc(u.spans, func(s span) bool { return s.overlaps(off, n) })
}

// spansAt returns the spans of a unit at a level: only its first level steps are on the disk.
func (u *unit) spansAt(level uint32) []span {
	if level < u.steps {
		return u.first(uint64(level) * SectorSize)
	}
	return u.spans
}

// sub returns the part of a span between two addresses of the disk.
func (s span) sub(from, to uint64) span {
	p := span{off: from, len: to - from}
	if s.data != nil {
		p.data = s.data[from-s.off : to-s.off]
	}
	return p
}

// first returns the spans of the first n bytes of a unit.
func (u *unit) first(n uint64) []span {
	if n >= u.bytes() {
		return u.spans
	}
	var out []span
	for _, s := range u.spans {
		if n == 0 {
			break
		}
		p := s.sub(s.off, s.off+min(n, s.len))
		n -= p.len
		out = append(out, p)
	}
	return out
}

// overlaps reports whether a span and a range share a byte.
func (s span) overlaps(off, n uint64) bool { return s.off < off+n && off < s.off+s.len }

// copyTo copies the part of a span that overlaps the page b, which begins at address start.
func (s span) copyTo(b []byte, start uint64) {
	lo, hi := max(start, s.off), min(start+uint64(len(b)), s.off+s.len)
	if s.data == nil {
		clear(b[lo-start : hi-start])
		return
	}
	copy(b[lo-start:hi-start], s.data[lo-s.off:hi-s.off])
}

// eachPage calls visit with the number of each page that a span overlaps. A page that several spans
// overlap is visited once for each of them.
func eachPage(spans []span, visit func(number uint64)) {
	for _, s := range spans {
		for n := s.off / PageSize; n*PageSize < s.off+s.len; n++ {
			visit(n)
		}
	}
}
