package crash

import (
	"encoding/binary"
	"slices"
)

// A pageCache makes the pages of the states of one point. Few units write to a page, so that it has
// few versions. Each version is made once.
type pageCache struct {
	layer    *layer
	flight   []*unit
	touched  [][]uint64       // by unit: the pages that it writes
	writers  map[uint64][]int // by page: the units that write it, in order
	versions map[uint64]map[string]page
	count    int             // of versions
	durable  map[uint64]page // the durable contents
	key      []byte
}

func newPageCache(l *layer, flight []*unit) *pageCache {
	c := &pageCache{
		layer:    l,
		flight:   flight,
		writers:  make(map[uint64][]int),
		versions: make(map[uint64]map[string]page),
		durable:  make(map[uint64]page),
	}
	for i, u := range flight {
		var numbers []uint64
		eachPage(u.spans, func(n uint64) { numbers = append(numbers, n) })
		numbers = slices.Compact(numbers)
		for _, n := range numbers {
			c.writers[n] = append(c.writers[n], i)
		}
		c.touched = append(c.touched, numbers)
	}
	return c
}

// state returns the signature of the state with these levels, and the pages in which it may differ
// from what is durable.
func (c *pageCache) state(levels []uint32) (over map[uint64]page, sig Signature, err error) {
	over, sig = make(map[uint64]page), c.layer.sum
	for i, level := range levels {
		if level == 0 {
			continue
		}
		for _, n := range c.touched[i] {
			if _, done := over[n]; done {
				continue
			}
			was, ok := c.durable[n]
			if !ok {
				if was, err = c.layer.page(n); err != nil {
					return nil, sig, err
				}
				c.durable[n] = was
			}
			now := c.page(n, was, levels)
			over[n] = now
			sig = sig.Plus(now.sum.minus(was.sum))
		}
	}
	return over, sig, nil
}

// page returns the version of a page that the units at these levels leave. The levels of its
// writers identify a version.
func (c *pageCache) page(number uint64, was page, levels []uint32) page {
	c.key = c.key[:0]
	for _, i := range c.writers[number] {
		c.key = binary.LittleEndian.AppendUint32(c.key, levels[i])
	}
	if p, ok := c.versions[number][string(c.key)]; ok {
		return p
	}
	var spans []span
	for _, i := range c.writers[number] {
		for _, s := range c.flight[i].spansAt(levels[i]) {
			if s.overlaps(number*PageSize, uint64(len(was.contents))) {
				spans = append(spans, s)
			}
		}
	}
	p := page{contents: contents(was, number, spans)}
	p.sum = c.layer.hasher.Page(number, p.contents)
	if c.count++; c.count > maxVersions {
		clear(c.versions)
		c.count = 0
	}
	if c.versions[number] == nil {
		c.versions[number] = make(map[string]page)
	}
	c.versions[number][string(c.key)] = p
	return p
}

// contents returns a page with spans applied. If one span covers the whole page, it returns the
// data of the write without a copy.
func contents(was page, number uint64, spans []span) []byte {
	start, size := number*PageSize, uint64(len(was.contents))
	if len(spans) == 1 {
		if s := spans[0]; s.data != nil && s.off <= start && start+size <= s.off+s.len {
			return s.data[start-s.off : start+size-s.off]
		}
	}
	b := slices.Clone(was.contents)
	applySpans(b, number, spans)
	return b
}

// applySpans writes spans over the contents of a page.
func applySpans(b []byte, number uint64, spans []span) {
	for _, s := range spans {
		if s.overlaps(number*PageSize, uint64(len(b))) {
			s.copyTo(b, number*PageSize)
		}
	}
}
