package btrfs

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// An overwriteCheck holds a write against what the last commit needs: Btrfs never changes in place
// what a superblock on the disk leads to, apart from data without checksums. The extent tree of
// that commit tells which metadata blocks it needs, its csum tree which data. Both are searched
// through the cache, so that nothing has to be remembered.
type overwriteCheck struct {
	disk    interp.Disk // as it is before the write
	base    *state
	log     *logState // nil: there is none
	write   *interp.Write
	pending *pendingWrite // takes note of the metadata in the write
	roots   *pendingRoots // see each block that names its own address
}

// run checks the write. An error that is a *structureError is a violation; any other means that it
// cannot be told.
func (c *overwriteCheck) run() error {
	w, mapped := c.write, uint64(0)
	defer func() { // a chunk may be new where none is known
		c.pending.metadata = c.pending.metadata || mapped < w.Len
	}()
	for p := range c.base.chunks.places(w.Off, w.Len) {
		mapped += p.n
		var err error
		if p.chunk.typ&(ondisk.GroupMetadata|ondisk.GroupSystem) != 0 {
			c.pending.metadata = true
			err = c.checkMetadata(p)
		}
		if err == nil && p.chunk.typ&ondisk.GroupData != 0 {
			err = c.checkData(p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkMetadata looks at a place in a chunk of metadata.
func (c *overwriteCheck) checkMetadata(p place) error {
	if p.chunk.typ&ondisk.GroupData == 0 {
		if err := c.checkDirection(p); err != nil {
			return err
		}
	}
	if err := c.checkLogKept(p); err != nil {
		return err
	}
	return c.base.eachTreeBlock(p.logical, p.logical+p.n, func(logical uint64) error {
		return c.checkKept(p, logical, baseRule, "the last commit")
	})
}

// checkDirection looks at the blocks in a write that name their own address: it has to be where
// they go. Blocks stand at multiples of nodesize, apart from file systems that old tools have made.
func (c *overwriteCheck) checkDirection(p place) error {
	data, size := p.contents(c.write), uint64(c.base.rules.nodeSize)
	for at := (size - p.logical%size) % size; at+ondisk.HeaderSize <= uint64(len(data)); at += size {
		b := data[at:]
		if [16]byte(b[ondisk.HeaderFSIDAt:]) != c.base.rules.fsid || slices.Contains(ondisk.SuperOffsets[:], (p.addr+at)%interp.DiskStride) {
			continue
		}
		if bytenr := binary.LittleEndian.Uint64(b[ondisk.HeaderBytenrAt:]); bytenr != p.logical+at {
			return onWrite(violatedAt(directionRule, p.addr+at, "block %d is written where block %d stands", bytenr, p.logical+at))
		}
		c.roots.note(b)
		if uint64(len(b)) >= size {
			c.pending.blocks = append(c.pending.blocks, writtenBlock{p.logical + at, p.addr + at, b[:size]})
		}
	}
	return nil
}

// checkKept makes sure that a write leaves a block as it is: it may only write what stands there,
// or what the other copies have (scrub repairs a bad copy).
func (c *overwriteCheck) checkKept(p place, logical uint64, rule structureRule, whose string) error {
	size := uint64(c.base.rules.nodeSize)
	lo, hi := max(p.logical, logical), min(p.logical+p.n, logical+size)
	addr := p.addr + (lo - p.logical)
	bad := func() error {
		what := "overwritten with something else"
		if c.write.Discard {
			what = "discarded"
		}
		return onWrite(violatedAt(rule, addr, "block %d, which %s needs, is %s", logical, whose, what))
	}
	data := p.contents(c.write)
	if data == nil {
		return bad() // no block is all zeros
	}
	data = data[lo-p.logical : hi-p.logical]
	old := make([]byte, len(data))
	if err := readFull(c.disk, old, addr); err != nil {
		return err
	}
	if bytes.Equal(old, data) {
		return nil
	}
	addrs, count, err := c.base.chunks.copies(logical, size, ondisk.GroupMetadata|ondisk.GroupSystem)
	if err != nil {
		return err
	}
	n, err := c.base.load(logical, addrs[:count], false)
	if err != nil {
		return bad()
	}
	if !bytes.Equal(n.Bytes()[lo-logical:hi-logical], data) {
		return bad()
	}
	return nil
}

// checkData looks at a place in a chunk of data: what the last commit has checksums for may only be
// written with contents that have them. The kernel never writes such data in place
// (can_nocow_extent), and scrub and read repair write what fits the checksum.
func (c *overwriteCheck) checkData(p place) error {
	root, ok, err := c.base.treeRoot(ondisk.CsumTreeID)
	if err != nil || !ok {
		return err
	}
	sector, size := uint64(c.base.rules.sectorSize), uint64(c.base.rules.csum.Size())
	pos, ok, err := c.base.seek(ondisk.CsumTreeID, root.pointer, ondisk.Key{ObjectID: ondisk.ExtentCsumID, Type: ondisk.ExtentCsumKey, Offset: p.logical})
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
			if err := c.checkSector(p, at, sums[i*size:(i+1)*size]); err != nil {
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
func (c *overwriteCheck) checkSector(p place, logical uint64, sum []byte) error {
	sector := uint64(c.base.rules.sectorSize)
	bad := func(what string) error {
		return onWrite(violatedAt(liveDataRule, p.addr+max(logical, p.logical)-p.logical, "the data at logical address %d, which the last commit has a checksum for, is %s", logical, what))
	}
	if c.write.Discard {
		return bad("discarded")
	}
	b := make([]byte, sector)
	if logical < p.logical || logical+sector > p.logical+p.n { // a part of a sector
		if err := readFull(&overlay{c.disk, c.write}, b, p.addr+logical-p.logical); err != nil {
			return err
		}
	} else if data := p.contents(c.write); data != nil {
		b = data[logical-p.logical : logical-p.logical+sector]
	}
	if have := c.base.rules.csum.Sum(b); !bytes.Equal(have[:len(sum)], sum) {
		return bad(fmt.Sprintf("overwritten with contents that have %x instead of %x", have[:len(sum)], sum))
	}
	return nil
}

// checkLogKept holds a write to a chunk of metadata against what the last log commit needs.
func (c *overwriteCheck) checkLogKept(p place) error {
	if c.log == nil || len(c.log.blocks) == 0 {
		return nil
	}
	size, step := uint64(c.base.rules.nodeSize), uint64(c.base.rules.sectorSize)
	from := p.logical / step * step
	for at := from - min(from, size-step); at < p.logical+p.n; at += step {
		if _, ok := c.log.blocks[at]; !ok {
			continue
		}
		if err := c.checkKept(p, at, logBlockRule, "the last log commit"); err != nil {
			return err
		}
	}
	return nil
}
