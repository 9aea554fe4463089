package crash

import (
	"fmt"
	"io"

	"github.com/cespare/xxhash/v2"
)

// PageSize is the unit in bytes in which states are stored and compared.
const PageSize = 4096

// Base is the disk before the log. It is only read, and must not change.
type Base interface {
	io.ReaderAt
	Size() uint64 // bytes
}

// A Signature identifies the contents of a state. It is a sum over pages, so that changed pages
// update it without a look at the others.
type Signature [2]uint64

// Plus returns the sum of two signatures.
func (s Signature) Plus(o Signature) Signature { return Signature{s[0] + o[0], s[1] + o[1]} }

func (s Signature) minus(o Signature) Signature { return Signature{s[0] - o[0], s[1] - o[1]} }

func (s Signature) String() string { return fmt.Sprintf("%016x%016x", s[0], s[1]) }

// A Hasher computes the signatures of pages. It is for one goroutine.
type Hasher struct{ d *xxhash.Digest }

// NewHasher returns a Hasher.
func NewHasher() Hasher { return Hasher{xxhash.New()} }

// Page returns the signature of the contents of a page.
func (h Hasher) Page(number uint64, contents []byte) (s Signature) {
	for i, seed := range [2]uint64{number, ^number} {
		h.d.ResetWithSeed(seed)
		_, _ = h.d.Write(contents) // it never fails
		s[i] = h.d.Sum64()
	}
	return s
}

// A page is the immutable contents of a page, and its signature.
type page struct {
	contents []byte
	sum      Signature
}

// A layer holds the durable pages over the base.
type layer struct {
	base    Base
	pages   map[uint64]page      // the pages that were written, by number
	origin  map[uint64]Signature // of pages of the base that were read
	sum     Signature            // difference of the durable disk from the base
	hasher  Hasher
	failed  bool     // the disk has reported that a write failed
	changes []uint64 // the number of each page that was set, in order
}

func newLayer(base Base) *layer {
	return &layer{
		base:   base,
		pages:  make(map[uint64]page),
		origin: make(map[uint64]Signature),
		hasher: NewHasher(),
	}
}

// page returns a page. The last page of the disk may be shorter than PageSize.
func (l *layer) page(number uint64) (page, error) {
	if p, ok := l.pages[number]; ok {
		return p, nil
	}
	b := make([]byte, min(PageSize, l.base.Size()-number*PageSize))
	if err := readFull(l.base, b, number*PageSize); err != nil {
		return page{}, err
	}
	p := page{b, l.hasher.Page(number, b)}
	l.origin[number] = p.sum
	return p, nil
}

// set replaces the page was by now.
func (l *layer) set(number uint64, was, now page) {
	l.sum = l.sum.Plus(now.sum.minus(was.sum))
	l.pages[number] = now
	l.changes = append(l.changes, number)
}

// readAt reads the pages of over, below them the layer, and below that the base.
func (l *layer) readAt(
	p []byte, off int64, over func(number uint64) ([]byte, bool),
) (int, error) {
	if off < 0 || uint64(off) > l.base.Size() || uint64(len(p)) > l.base.Size()-uint64(off) {
		return 0, outside(len(p), off, l.base.Size())
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
		// Adjacent pages that only the base has are read with one call.
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
