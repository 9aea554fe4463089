package model

import (
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"strings"

	"fsward/explore/agent"
)

// A content is the data of a regular file. It is immutable: operations return a new content.
type content struct {
	size  uint64 // in bytes
	parts []part // sorted, disjoint, within size; the rest is zeros
}

// A part is a range of bytes [off, end) that was written with agent.Pattern of one seed. The
// pattern depends on the offset in the file, which was at for the byte at off: they differ after a
// range was cloned or shifted. A subrange of a part is a part, and adjacent parts whose patterns
// continue each other are merged.
type part struct{ off, end, seed, at uint64 }

// within returns the subrange of a part within [off, end).
func (p part) within(off, end uint64) (sub part, ok bool) {
	from, to := max(p.off, off), min(p.end, end)
	return part{from, to, p.seed, p.at + from - p.off}, from < to
}

// shifted returns the part moved up by n bytes, or down for a negative n.
func (p part) shifted(n int64) part {
	return part{p.off + uint64(n), p.end + uint64(n), p.seed, p.at}
}

// clear returns the content with zeros in a range, and the same size.
func (c content) clear(off, end uint64) content {
	parts := append(c.window(0, off), c.window(end, math.MaxUint64)...)
	return content{c.size, parts}
}

// write returns the content after pwrite(2) of n bytes of a pattern.
func (c content) write(off, n, seed uint64) content {
	return c.replace(off, off+n, []part{{off, off + n, seed, off}})
}

// replace returns the content with other parts in a range. It grows to the end of the range.
func (c content) replace(off, end uint64, parts []part) content {
	all := slices.Concat(c.window(0, off), parts, c.window(end, math.MaxUint64))
	return content{max(c.size, end), merged(all)}
}

// merged returns parts with those merged that continue each other.
func merged(parts []part) (out []part) {
	for _, p := range parts {
		if n := len(out) - 1; n >= 0 && out[n].end == p.off && out[n].seed == p.seed &&
			out[n].at+out[n].end-out[n].off == p.at {
			out[n].end = p.end
		} else {
			out = append(out, p)
		}
	}
	return out
}

// clone returns the content with n bytes of another one, from fromOff there, at off.
func (c content) clone(off uint64, from content, fromOff, n uint64) content {
	parts := from.window(fromOff, fromOff+n)
	for i, p := range parts {
		parts[i] = p.shifted(int64(off - fromOff))
	}
	return c.replace(off, off+n, parts)
}

// collapse returns the content without a range of n bytes. What follows it moves down.
func (c content) collapse(off, n uint64) content {
	after := c.window(off+n, math.MaxUint64)
	for i, p := range after {
		after[i] = p.shifted(-int64(n))
	}
	return content{c.size - n, merged(append(c.window(0, off), after...))}
}

// insert returns the content with n zeros at off. What was there moves up.
func (c content) insert(off, n uint64) content {
	after := c.window(off, math.MaxUint64)
	for i, p := range after {
		after[i] = p.shifted(int64(n))
	}
	return content{c.size + n, append(c.window(0, off), after...)}
}

// truncate returns the content with another size. New bytes are zeros.
func (c content) truncate(size uint64) content {
	if size < c.size {
		c = c.clear(size, c.size)
	}
	c.size = size
	return c
}

// read fills b with the bytes from off on, with zeros beyond the end.
func (c content) read(b []byte, off uint64) {
	clear(b)
	end := off + uint64(len(b))
	for _, p := range c.window(off, end) {
		agent.Pattern(b[p.off-off:p.end-off], p.at, p.seed)
	}
}

// bytes returns the content.
func (c content) bytes() []byte {
	b := make([]byte, c.size)
	c.read(b, 0)
	return b
}

// differs reports whether two contents may differ in a range. It compares their parts, so zeros and
// bytes beyond the end are equal.
func (c content) differs(d content, off, end uint64) bool {
	return !slices.Equal(c.window(off, end), d.window(off, end))
}

// window returns the parts within a range.
func (c content) window(off, end uint64) (out []part) {
	for _, p := range c.parts {
		if sub, ok := p.within(off, end); ok {
			out = append(out, sub)
		}
	}
	return out
}

// blocks returns the number of sectors that the parts need.
func (c content) blocks() (n uint64) {
	for _, p := range c.parts {
		n += (p.end - p.off + sector - 1) / sector
	}
	return n
}

// sum returns the SHA-256 of the content.
func (c content) sum() (sum [sha256.Size]byte) {
	h := sha256.New()
	buf := make([]byte, min(c.size, 64<<10))
	for off := uint64(0); off < c.size; off += uint64(len(buf)) {
		b := buf[:min(uint64(len(buf)), c.size-off)]
		c.read(b, off)
		h.Write(b)
	}
	h.Sum(sum[:0])
	return sum
}

func (c content) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d", c.size)
	for _, p := range c.parts {
		fmt.Fprintf(&b, " %d-%d:%d", p.off, p.end, p.seed)
		if p.at != p.off {
			fmt.Fprintf(&b, "@%d", p.at)
		}
	}
	return b.String()
}
