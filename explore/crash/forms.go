package crash

import (
	"encoding/binary"
	"slices"
)

// forms makes the pages of the states of one point. A page that few units write has few contents, each made once.
type forms struct {
	layer   *layer
	flight  []*unit
	touches [][]uint64       // by unit: the pages that it writes
	writers map[uint64][]int // by page: the units that write it, in order
	made    map[uint64]map[string]page
	count   int
	was     map[uint64]page // as they are durable
	key     []byte
}

func newForms(l *layer, flight []*unit) *forms {
	f := &forms{layer: l, flight: flight, writers: make(map[uint64][]int), made: make(map[uint64]map[string]page), was: make(map[uint64]page)}
	for i, u := range flight {
		var numbers []uint64
		pages(u.spans, func(n uint64) { numbers = append(numbers, n) })
		numbers = slices.Compact(numbers)
		for _, n := range numbers {
			f.writers[n] = append(f.writers[n], i)
		}
		f.touches = append(f.touches, numbers)
	}
	return f
}

// state returns the pages in which the state with these levels differs from what is durable, and its signature.
func (f *forms) state(levels []uint32) (over map[uint64]page, sig Signature, err error) {
	over, sig = make(map[uint64]page), f.layer.sum
	for i, level := range levels {
		if level == 0 {
			continue
		}
		for _, n := range f.touches[i] {
			if _, done := over[n]; done {
				continue
			}
			was, ok := f.was[n]
			if !ok {
				if was, err = f.layer.page(n); err != nil {
					return nil, sig, err
				}
				f.was[n] = was
			}
			now := f.page(n, was, levels)
			over[n] = now
			sig = sig.plus(now.sum.minus(was.sum))
		}
	}
	return over, sig, nil
}

// page makes the contents of a page.
func (f *forms) page(number uint64, was page, levels []uint32) page {
	f.key = f.key[:0]
	for _, i := range f.writers[number] {
		f.key = binary.LittleEndian.AppendUint32(f.key, levels[i])
	}
	if p, ok := f.made[number][string(f.key)]; ok {
		return p
	}
	var spans []span
	for _, i := range f.writers[number] {
		for _, s := range f.flight[i].at(levels[i]) {
			if s.meets(number*PageSize, uint64(len(was.contents))) {
				spans = append(spans, s)
			}
		}
	}
	p := page{contents: contents(was, number, spans)}
	p.sum = f.layer.hasher.page(number, p.contents)
	if f.count++; f.count > maxForms {
		clear(f.made)
		f.count = 0
	}
	if f.made[number] == nil {
		f.made[number] = make(map[string]page)
	}
	f.made[number][string(f.key)] = p
	return p
}

// contents is a page with spans over it: the data of a write itself where that is all of the page.
func contents(was page, number uint64, spans []span) []byte {
	start, size := number*PageSize, uint64(len(was.contents))
	if len(spans) == 1 {
		if s := spans[0]; s.data != nil && s.off <= start && start+size <= s.off+s.len {
			return s.data[start-s.off : start+size-s.off]
		}
	}
	b := slices.Clone(was.contents)
	lay(b, number, spans)
	return b
}
