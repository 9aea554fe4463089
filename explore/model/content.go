package model

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"fsward/explore/agent"
)

// content is what a regular file holds. It is never changed: what changes it gives a new one.
type content struct {
	size  uint64
	parts []part // in order, apart from each other, within size; zeros elsewhere
}

// part is a range that was written with agent.Pattern of one seed. The pattern goes by the offset in the file, so a part of a
// part is one as well, and neighbours of one seed are one part.
type part struct{ off, end, seed uint64 }

// clear makes a range zeros without changing the size.
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

// write is pwrite(2) of a pattern.
func (c content) write(off, n, seed uint64) content {
	end := off + n
	c = c.clear(off, end)
	i, _ := slices.BinarySearchFunc(c.parts, off, func(p part, off uint64) int { return cmpUint(p.off, off) })
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

func cmpUint(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func (c content) truncate(size uint64) content {
	if size < c.size {
		c = c.clear(size, c.size)
	}
	c.size = size
	return c
}

// read fills b with what stands from off on; zeros beyond the end.
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

// differs says whether two contents may differ in a range, by the parts that they have there: zeros and what lies beyond the end
// are alike.
func (c content) differs(d content, off, end uint64) bool {
	return !slices.Equal(c.window(off, end), d.window(off, end))
}

func (c content) window(off, end uint64) (out []part) {
	for _, p := range c.parts {
		if from, to := max(p.off, off), min(p.end, end); from < to {
			out = append(out, part{from, to, p.seed})
		}
	}
	return out
}

// sum is the SHA-256 of all of it.
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
