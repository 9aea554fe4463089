package crash

import "slices"

// A span is a piece of a write: the whole of it, mostly.
type span struct {
	off, len uint64
	data     []byte // nil: zeros
}

// A unit is a write in flight, or a part of one that can be on the disk without the others.
type unit struct {
	id    uint64 // of the write
	off   uint64 // where the write that was issued begins
	seq   uint64 // units are applied in this order
	spans []span
	fresh bool   // issued since the last point whose states were all formed
	dirty bool   // it was dirtied: the kernel can write it whenever it likes
	of    uint64 // of a dirty one: the write that was issued with these contents; 0: none was
	steps uint32 // in which it can be done: 1, or its sectors if writes can be torn
}

// bytes is how much of the disk it changes.
func (u *unit) bytes() (n uint64) {
	for _, s := range u.spans {
		n += s.len
	}
	return n
}

// cut makes units of a write: at multiples of size, or one if size is 0.
func cut(w Write, size uint64) (units []*unit) {
	for off, end := w.Off, w.Off+w.Len; off < end; {
		next := end
		if size > 0 {
			next = min(end, (off/size+1)*size)
		}
		s := span{off: off, len: next - off}
		if w.Data != nil {
			s.data = w.Data[off-w.Off : next-w.Off]
		}
		units = append(units, &unit{id: w.ID, off: w.Off, spans: []span{s}, fresh: true})
		off = next
	}
	return units
}

// without takes a range from a unit: something that was issued later is durable there.
func (u *unit) without(off, n uint64) {
	if !u.touches(off, n) {
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

// touches tells whether a unit writes to a range.
func (u *unit) touches(off, n uint64) bool {
	return slices.ContainsFunc(u.spans, func(s span) bool { return s.off < off+n && off < s.off+s.len })
}

// at returns the spans of a unit at a level: so many of its steps are done.
func (u *unit) at(level uint32) []span {
	if level < u.steps {
		return u.first(uint64(level) * SectorSize)
	}
	return u.spans
}

// sub is the part of a span from one address of the disk to another.
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

// meets tells whether a span and a range share a byte.
func (s span) meets(start, size uint64) bool { return s.off < start+size && start < s.off+s.len }

// put copies a span into the page that begins at start, as far as they meet.
func (s span) put(b []byte, start uint64) {
	lo, hi := max(start, s.off), min(start+uint64(len(b)), s.off+s.len)
	if s.data == nil {
		clear(b[lo-start : hi-start])
		return
	}
	copy(b[lo-start:hi-start], s.data[lo-s.off:hi-s.off])
}

// pages calls visit with the number of each page that spans touch, once for each span.
func pages(spans []span, visit func(number uint64)) {
	for _, s := range spans {
		for n := s.off / PageSize; n*PageSize < s.off+s.len; n++ {
			visit(n)
		}
	}
}
