package btrfs

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"

	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// checkWrite holds a write against what the last commit needs: Btrfs never changes in place what a
// superblock on the disk leads to, apart from data without checksums. The extent tree of that commit tells
// which metadata blocks it needs, its csum tree which data, and both are searched through the cache, so
// that nothing has to be remembered. An error that is a *structureError is a violation, any other means
// that it cannot be told.
func (f *FS) checkWrite(w *interp.Write) error {
	mapped := uint64(0)
	defer func() { f.metadata = f.metadata || mapped < w.Len }() // a chunk may be new there
	for p := range f.base.chunks.places(w.Off, w.Len) {
		mapped += p.n
		var err error
		if p.chunk.typ&(ondisk.GroupMetadata|ondisk.GroupSystem) != 0 {
			f.metadata = true
			err = f.checkMetadata(w, p)
		}
		if err == nil && p.chunk.typ&ondisk.GroupData != 0 {
			err = f.checkData(w, p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// A place is a run of device addresses with the logical addresses that they hold.
type place struct {
	chunk            *chunk
	addr, n, logical uint64
}

// places yields the parts of a range of the device that lie in chunks.
func (m *chunkMap) places(off, n uint64) iter.Seq[place] {
	return func(yield func(place) bool) {
		i, _ := slices.BinarySearchFunc(m.onDisk, off, func(s chunkStripe, a uint64) int {
			return cmp.Compare(s.addr, a)
		})
		for i = max(i-1, 0); i < len(m.onDisk) && m.onDisk[i].addr < off+n; i++ {
			s, c := m.onDisk[i].addr, &m.chunks[m.onDisk[i].chunk]
			lo, hi := max(off, s), min(off+n, s+c.stripeLength())
			for lo < hi {
				at, run := c.offsetOf(slices.Index(c.stripes, s), lo-s)
				p := place{c, lo, min(hi-lo, run), c.logical + at}
				if !yield(p) {
					return
				}
				lo += p.n
			}
		}
	}
}

// offsetOf is locate the other way round: the offset in the chunk of a byte in one of its stripes, and how
// many bytes from it on lie beside it there.
func (c *chunk) offsetOf(stripe int, at uint64) (off, run uint64) {
	if c.columns == 1 {
		return at, c.length - at
	}
	row := at/ondisk.StripeLen*uint64(c.columns) + uint64(stripe/c.copies)
	return row*ondisk.StripeLen + at%ondisk.StripeLen, ondisk.StripeLen - at%ondisk.StripeLen
}

// contents returns what a write puts at a place; nil if that becomes zeros or is given up.
func (p place) contents(w *interp.Write) []byte {
	if w.Data == nil {
		return nil
	}
	return w.Data[p.addr-w.Off : p.addr-w.Off+p.n]
}

// checkMetadata looks at a place in a chunk of metadata.
func (f *FS) checkMetadata(w *interp.Write, p place) error {
	if p.chunk.typ&ondisk.GroupData == 0 {
		if err := f.checkDirection(w, p); err != nil {
			return err
		}
	}
	if err := f.checkLogKept(w, p); err != nil {
		return err
	}
	return f.base.eachTreeBlock(p.logical, p.logical+p.n, func(logical uint64) error {
		return f.checkKept(w, p, logical, baseRule, "the last commit")
	})
}

// checkDirection looks at the blocks in a write that name their own address: it has to be where they go.
// Blocks stand at multiples of nodesize, apart from file systems that old tools have made.
func (f *FS) checkDirection(w *interp.Write, p place) error {
	data, size := p.contents(w), uint64(f.base.rules.nodeSize)
	for at := (size - p.logical%size) % size; at+ondisk.HeaderSize <= uint64(len(data)); at += size {
		b := data[at:]
		if [16]byte(b[ondisk.HeaderFSIDAt:]) != f.base.rules.fsid || slices.Contains(ondisk.SuperOffsets[:], (p.addr+at)%interp.DiskStride) {
			continue
		}
		if bytenr := binary.LittleEndian.Uint64(b[ondisk.HeaderBytenrAt:]); bytenr != p.logical+at {
			return onWrite(violatedAt(directionRule, p.addr+at, "block %d is written where block %d stands", bytenr, p.logical+at))
		}
		f.coming.note(b)
		if uint64(len(b)) >= size {
			f.written = append(f.written, writtenBlock{p.logical + at, p.addr + at, b[:size]})
		}
	}
	return nil
}

// eachTreeBlock visits the logical addresses of the metadata blocks of a state that share a byte with [lo, hi).
func (s *state) eachTreeBlock(lo, hi uint64, visit func(logical uint64) error) error {
	size := uint64(s.rules.nodeSize)
	root, ok, err := s.treeRoot(ondisk.ExtentTreeID)
	if err != nil || !ok {
		return err
	}
	from := uint64(0)
	if lo >= size {
		from = lo - size + 1
	}
	p, ok, err := s.seek(ondisk.ExtentTreeID, root.pointer, ondisk.Key{ObjectID: from})
	for ok && err == nil && p.key().ObjectID < hi {
		k := p.key()
		if k.Type == ondisk.MetadataItemKey || k.Type == ondisk.ExtentItemKey && treeBlockItem(p) {
			if err := visit(k.ObjectID); err != nil {
				return err
			}
			// Past its back references, of which there may be many.
			p, ok, err = s.seek(ondisk.ExtentTreeID, root.pointer, ondisk.Key{ObjectID: k.ObjectID + size})
			continue
		}
		ok, err = p.move(1)
	}
	return err
}

// treeBlockItem tells of an extent_item whether it is a metadata block.
func treeBlockItem(p *position) bool {
	item := p.item()
	r := item.data()
	return r.Len() >= ondisk.ExtentItemSize && r.U64(16)&ondisk.ExtentFlagTreeBlock != 0
}

// checkKept makes sure that a write leaves a block as it is: it may only write what stands there, or what
// the other copies have (scrub repairs a bad copy).
func (f *FS) checkKept(w *interp.Write, p place, logical uint64, rule structureRule, whose string) error {
	size := uint64(f.base.rules.nodeSize)
	lo, hi := max(p.logical, logical), min(p.logical+p.n, logical+size)
	addr := p.addr + (lo - p.logical)
	bad := func() error {
		what := "overwritten with something else"
		if w.Discard {
			what = "discarded"
		}
		return onWrite(violatedAt(rule, addr, "block %d, which %s needs, is %s", logical, whose, what))
	}
	data := p.contents(w)
	if data == nil {
		return bad() // no block is all zeros
	}
	data = data[lo-p.logical : hi-p.logical]
	old := make([]byte, len(data))
	if err := readFull(f.disk.Disk, old, addr); err != nil {
		return err
	}
	if bytes.Equal(old, data) {
		return nil
	}
	addrs, count, err := f.base.chunks.copies(logical, size, ondisk.GroupMetadata|ondisk.GroupSystem)
	if err != nil {
		return err
	}
	n, err := f.base.load(logical, addrs[:count], false)
	if err != nil {
		return bad()
	}
	if !bytes.Equal(n.Bytes()[lo-logical:hi-logical], data) {
		return bad()
	}
	return nil
}

// checkData looks at a place in a chunk of data: what the last commit has checksums for may only be
// written with contents that have them. The kernel never writes such data in place (can_nocow_extent), and
// scrub and read repair write what fits the checksum.
func (f *FS) checkData(w *interp.Write, p place) error {
	root, ok, err := f.base.treeRoot(ondisk.CsumTreeID)
	if err != nil || !ok {
		return err
	}
	sector, size := uint64(f.base.rules.sectorSize), uint64(f.base.rules.csum.Size())
	pos, ok, err := f.base.seek(ondisk.CsumTreeID, root.pointer, ondisk.Key{ObjectID: ondisk.ExtentCsumID, Type: ondisk.ExtentCsumKey, Offset: p.logical})
	if err != nil {
		return err
	}
	// The item before may reach up to here; behind the last item the position stays on it.
	if ok && (pos.key().ObjectID != ondisk.ExtentCsumID || pos.key().Offset > p.logical) {
		if _, err := pos.move(-1); err != nil {
			return err
		}
	}
	for ok = pos.path[pos.depth].n.NrItems() > 0; ok && err == nil; ok, err = pos.move(1) {
		k := pos.key()
		if k.Offset >= p.logical+p.n && k.ObjectID == ondisk.ExtentCsumID {
			break
		}
		if k.ObjectID != ondisk.ExtentCsumID || k.Type != ondisk.ExtentCsumKey {
			continue
		}
		item := pos.item()
		sums := item.data().Bytes()
		for i := firstSum(k.Offset, p.logical, sector); (i+1)*size <= uint64(len(sums)); i++ {
			at := k.Offset + i*sector
			if at >= p.logical+p.n {
				break
			}
			if err := f.checkSector(w, p, at, sums[i*size:(i+1)*size]); err != nil {
				return err
			}
		}
	}
	return err
}

// firstSum is the index of the checksum of a sector in an item that begins at start.
func firstSum(start, logical, sector uint64) uint64 {
	if logical <= start {
		return 0
	}
	return (logical - start) / sector
}

// checkSector holds what a write does to a sector of data against its checksum.
func (f *FS) checkSector(w *interp.Write, p place, logical uint64, sum []byte) error {
	sector := uint64(f.base.rules.sectorSize)
	bad := func(what string) error {
		return onWrite(violatedAt(liveDataRule, p.addr+max(logical, p.logical)-p.logical, "the data at logical address %d, which the last commit has a checksum for, is %s", logical, what))
	}
	if w.Discard {
		return bad("discarded")
	}
	b := make([]byte, sector)
	if logical < p.logical || logical+sector > p.logical+p.n { // a part of a sector
		if err := readFull(&overlay{f.disk.Disk, w}, b, p.addr+logical-p.logical); err != nil {
			return err
		}
	} else if data := p.contents(w); data != nil {
		b = data[logical-p.logical : logical-p.logical+sector]
	}
	if have := f.base.rules.csum.Sum(b); !bytes.Equal(have[:len(sum)], sum) {
		return bad(fmt.Sprintf("overwritten with contents that have %x instead of %x", have[:len(sum)], sum))
	}
	return nil
}
