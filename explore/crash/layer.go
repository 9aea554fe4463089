package crash

import (
	"fmt"
	"io"

	"github.com/cespare/xxhash/v2"
)

// PageSize is the unit in which states are told apart, bytes.
const PageSize = 4096

// Base is the disk before the log. It is only read, and stays as it is.
type Base interface {
	io.ReaderAt
	Size() uint64 // bytes
}

// A Signature tells states with different contents apart. It is a sum over pages, so that it follows from what changes.
type Signature [2]uint64

func (s Signature) plus(o Signature) Signature  { return Signature{s[0] + o[0], s[1] + o[1]} }
func (s Signature) minus(o Signature) Signature { return Signature{s[0] - o[0], s[1] - o[1]} }

func (s Signature) String() string { return fmt.Sprintf("%016x%016x", s[0], s[1]) }

// A hasher makes the signatures of pages.
type hasher struct{ d *xxhash.Digest }

func newHasher() hasher { return hasher{xxhash.New()} }

func (h hasher) page(number uint64, contents []byte) (s Signature) {
	for i, seed := range [2]uint64{number, ^number} {
		h.d.ResetWithSeed(seed)
		_, _ = h.d.Write(contents) // it never fails
		s[i] = h.d.Sum64()
	}
	return s
}

// A page is a page's contents, which never change, and its signature.
type page struct {
	contents []byte
	sum      Signature
}

// A layer is what is durable over the base.
type layer struct {
	base    Base
	pages   map[uint64]page      // that were written, by number
	origin  map[uint64]Signature // of the base's pages, as far as they were needed
	sum     Signature            // how the whole differs from the base
	hasher  hasher
	changes []uint64 // numbers of the pages that were set, one after the other
}

func newLayer(base Base) *layer {
	return &layer{base: base, pages: make(map[uint64]page), origin: make(map[uint64]Signature), hasher: newHasher()}
}

// page returns a page. The last one of the disk may be shorter.
func (l *layer) page(number uint64) (page, error) {
	if p, ok := l.pages[number]; ok {
		return p, nil
	}
	b := make([]byte, min(PageSize, l.base.Size()-number*PageSize))
	if err := readFull(l.base, b, number*PageSize); err != nil {
		return page{}, err
	}
	p := page{b, l.hasher.page(number, b)}
	l.origin[number] = p.sum
	return p, nil
}

// set makes a page another.
func (l *layer) set(number uint64, was, now page) {
	l.sum = l.sum.plus(now.sum.minus(was.sum))
	l.pages[number] = now
	l.changes = append(l.changes, number)
}

// readAt reads through the pages that over has into the layer and the base.
func (l *layer) readAt(p []byte, off int64, over func(number uint64) ([]byte, bool)) (int, error) {
	if off < 0 || uint64(off) > l.base.Size() || uint64(len(p)) > l.base.Size()-uint64(off) {
		return 0, fmt.Errorf("crash state: %d bytes at %d: outside the disk of %d bytes", len(p), off, l.base.Size())
	}
	for done := 0; done < len(p); {
		at := uint64(off) + uint64(done)
		number, inside := at/PageSize, at%PageSize
		contents, ok := over(number)
		if !ok {
			var written page
			written, ok = l.pages[number]
			contents = written.contents
		}
		if ok {
			done += copy(p[done:], contents[inside:])
			continue
		}
		// A run of pages that nothing was written to is read at once.
		end := number + 1
		for end*PageSize < uint64(off)+uint64(len(p)) && !l.changed(end, over) {
			end++
		}
		piece := p[done:min(uint64(len(p)), end*PageSize-uint64(off))]
		if err := readFull(l.base, piece, at); err != nil {
			return done, err
		}
		done += len(piece)
	}
	return len(p), nil
}

func (l *layer) changed(number uint64, over func(uint64) ([]byte, bool)) bool {
	if _, ok := l.pages[number]; ok {
		return true
	}
	_, ok := over(number)
	return ok
}

func readFull(r io.ReaderAt, b []byte, at uint64) error {
	if n, err := r.ReadAt(b, int64(at)); n < len(b) {
		return fmt.Errorf("crash state: reading %d bytes at %d: %w", len(b), at, err)
	}
	return nil
}
