package model

import (
	"cmp"
	"crypto/sha256"
	"fmt"
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
// pattern depends on the offset in the file. So a subrange of a part is a part, and adjacent parts
// of the same seed are merged.
type part struct{ off, end, seed uint64 }

// clear returns the content with zeros in a range, and the same size.
func (c content) clear(off, end uint64) content {
	parts := make([]part, 0, len(c.parts)+1)
	for _, p := range c.parts {
		if p.off < off {
			parts = append(parts, part{p.off, min(p.end, off), p.seed})
		}
		if p.end > end {
			parts = append(parts, part{max(p.off, end), p.end, p.seed})
		}
	}
	return content{c.size, parts}
}

// write returns the content after pwrite(2) of n bytes of a pattern.
func (c content) write(off, n, seed uint64) content {
	end := off + n
	c = c.clear(off, end)
	byOffset := func(p part, off uint64) int { return cmp.Compare(p.off, off) }
	i, _ := slices.BinarySearchFunc(c.parts, off, byOffset)
	c.parts = slices.Insert(c.parts, i, part{off, end, seed})
	if i+1 < len(c.parts) && c.parts[i+1].off == end && c.parts[i+1].seed == seed {
		c.parts[i].end = c.parts[i+1].end
		c.parts = slices.Delete(c.parts, i+1, i+2)
	}
	if i > 0 && c.parts[i-1].end == off && c.parts[i-1].seed == seed {
		c.parts[i-1].end = c.parts[i].end
		c.parts = slices.Delete(c.parts, i, i+1)
	}
	c.size = max(c.size, end)
	return c
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
	for _, p := range c.parts {
		from, to := max(p.off, off), min(p.end, end)
		if from < to {
			agent.Pattern(b[from-off:to-off], from, p.seed)
		}
	}
}

// differs reports whether two contents may differ in a range. It compares their parts, so zeros and
// bytes beyond the end are equal.
func (c content) differs(d content, off, end uint64) bool {
	return !slices.Equal(c.window(off, end), d.window(off, end))
}

// window returns the parts within a range.
func (c content) window(off, end uint64) (out []part) {
	for _, p := range c.parts {
		if from, to := max(p.off, off), min(p.end, end); from < to {
			out = append(out, part{from, to, p.seed})
		}
	}
	return out
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
	}
	return b.String()
}
