package crash

import (
	"encoding/binary"
	"slices"
)

// A pageCache makes the pages of the states of one point. Few units write to a page, so that it has
// few versions. Each version is made once. A state is made from the one before it, so that its cost
// is that of the units in which the two differ: a point has more states than units in flight.
type pageCache struct {
	layer    *layer
	flight   []*unit
	touched  [][]uint64       // by unit: the pages that it writes
	writers  map[uint64][]int // by page: the units that write it, in order
	versions map[uint64]map[string]page
	count    int             // of versions
	durable  map[uint64]page // the durable contents
	key      []byte

	levels []uint32 // of the state that was made last
	over   map[uint64]page
	sig    Signature
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
	return c.anew()
}

// anew returns a cache with the same versions that has made no state. Its states do not change when
// c makes others.
func (c *pageCache) anew() *pageCache {
	own := *c
	own.levels, own.over, own.sig = make([]uint32, len(c.flight)), make(map[uint64]page), c.layer.sum
	return &own
}

// state returns the signature of the state with these levels, and the pages in which it may differ
// from what is durable, which are valid until the next call.
func (c *pageCache) state(levels []uint32) (over map[uint64]page, sig Signature, err error) {
	var changed []uint64
	for i, level := range levels {
		if level != c.levels[i] {
			c.levels[i] = level
			changed = append(changed, c.touched[i]...)
		}
	}
	slices.Sort(changed)
	for _, n := range slices.Compact(changed) {
		if err := c.update(n); err != nil {
			return nil, c.sig, err
		}
	}
	return c.over, c.sig, nil
}

// update makes a page the one that the units at the present levels leave.
func (c *pageCache) update(n uint64) (err error) {
	was, ok := c.durable[n]
	if !ok {
		if was, err = c.layer.page(n); err != nil {
			return err
		}
		c.durable[n] = was
	}
	if old, ok := c.over[n]; ok {
		c.sig = c.sig.Plus(was.sum.minus(old.sum))
		delete(c.over, n)
	}
	visible := c.visible(n, uint64(len(was.contents)))
	if len(visible) == 0 {
		return nil
	}
	now := c.page(n, was, visible)
	c.over[n] = now
	c.sig = c.sig.Plus(now.sum.minus(was.sum))
	return nil
}

// visible returns the units of which something is to be seen in a page of size bytes, the last one
// first: a page that was written a thousand times without a flush shows the last write only.
func (c *pageCache) visible(number, size uint64) (units []int) {
	hidden, all := uint64(0), sectorsIn(0, size+SectorSize-1)
	for _, i := range slices.Backward(c.writers[number]) {
		if c.levels[i] == 0 {
			continue
		}
		part, whole := sectorsOf(c.flight[i].spansAt(c.levels[i]), number*PageSize, size)
		if part&^hidden != 0 {
			units = append(units, i)
		}
		if hidden |= whole; hidden == all {
			break
		}
	}
	return units
}

// sectorsOf returns the sectors of a page of which spans have a part, and those of which they have
// the whole, a bit each. The page begins at address start.
func sectorsOf(spans []span, start, size uint64) (part, whole uint64) {
	for _, s := range spans {
		if s.overlaps(start, size) {
			from, to := max(s.off, start)-start, min(s.off+s.len, start+size)-start
			part |= sectorsIn(from, to+SectorSize-1)
			whole |= sectorsIn(from+SectorSize-1, to)
		}
	}
	return part, whole
}

// sectorsIn returns the sectors from that of the byte from up to that of the byte to, without it.
func sectorsIn(from, to uint64) uint64 {
	return uint64(1)<<(to/SectorSize) - uint64(1)<<min(from/SectorSize, to/SectorSize)
}

// page returns the version of a page that visible units leave. They and their levels identify a
// version.
func (c *pageCache) page(number uint64, was page, visible []int) page {
	c.key = c.key[:0]
	for _, i := range visible {
		c.key = binary.LittleEndian.AppendUint32(c.key, uint32(i))
		c.key = binary.LittleEndian.AppendUint32(c.key, c.levels[i])
	}
	if p, ok := c.versions[number][string(c.key)]; ok {
		return p
	}
	var spans []span
	for _, i := range slices.Backward(visible) {
		for _, s := range c.flight[i].spansAt(c.levels[i]) {
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
