package btrfs

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// An overwriteCheck checks that a write leaves the blocks of the last commit intact. Btrfs never
// overwrites blocks that a superblock on the disk leads to, except data without checksums. The
// metadata blocks of a commit are in its extent tree, and its data with checksums are in its csum
// tree. Searches of both go through the cache, so that the check keeps no state.
type overwriteCheck struct {
	disk    interp.Disk // as it is before the write
	base    *state
	log     *logState // nil: there is none
	write   *interp.Write
	pending *pendingWrite // notes the metadata in the write
	roots   *pendingRoots // notes each block that names its own address
}

// run checks the write. A *structureError is a violation. Any other error means that the check is
// undecided.
func (c *overwriteCheck) run() error {
	w, mapped := c.write, uint64(0)
	defer func() { // a range outside of all known chunks may lie in a new chunk of metadata
		c.pending.metadata = c.pending.metadata || mapped < w.Len
	}()
	for p := range c.base.chunks.places(w.Off, w.Len) {
		mapped += p.n
		var err error
		if p.holds(ondisk.GroupMetadata | ondisk.GroupSystem) {
			c.pending.metadata = true
			err = c.checkMetadata(p)
		}
		if err == nil && p.holds(ondisk.GroupData) {
			err = c.checkData(p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkMetadata checks the part of the write at a place in a chunk of metadata.
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

// checkDirection checks that each block in the write goes to the address that its header names.
// Blocks lie at multiples of nodesize, except on file systems that old tools made.
func (c *overwriteCheck) checkDirection(p place) error {
	data, size := p.contents(c.write), uint64(c.base.rules.nodeSize)
	for at := (size - p.logical%size) % size; at+ondisk.HeaderSize <= uint64(len(data)); at += size {
		b := data[at:]
		logical, addr := p.logical+at, p.addr+at
		if [16]byte(b[ondisk.HeaderFSIDAt:]) != c.base.rules.fsid ||
			slices.Contains(ondisk.SuperOffsets[:], addr%interp.DiskStride) {
			continue
		}
		if bytenr := binary.LittleEndian.Uint64(b[ondisk.HeaderBytenrAt:]); bytenr != logical {
			return onWrite(violatedAt(directionRule, addr,
				"block %d is written in the place of block %d", bytenr, logical))
		}
		c.roots.note(b)
		if uint64(len(b)) >= size {
			c.pending.blocks = append(c.pending.blocks, writtenBlock{logical, addr, b[:size]})
		}
	}
	return nil
}

// checkKept checks that a write leaves a block intact. The write may contain the present bytes of
// the block, or those of another copy: scrub repairs a bad copy. whose names the commit that needs
// the block.
func (c *overwriteCheck) checkKept(
	p place, logical uint64, rule structureRule, whose string,
) error {
	size := uint64(c.base.rules.nodeSize)
	lo, hi := max(p.logical, logical), min(p.logical+p.n, logical+size)
	addr := p.addr + (lo - p.logical)
	bad := func() error {
		what := "overwritten with something else"
		if c.write.Discard {
			what = "discarded"
		}
		return onWrite(violatedAt(rule, addr, "block %d, which %s needs, is %s",
			logical, whose, what))
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
	const types = ondisk.GroupMetadata | ondisk.GroupSystem
	addrs, count, err := c.base.chunks.copies(logical, size, types)
	if err != nil {
		return err
	}
	n, err := c.base.load(logical, addrs[:count], false)
	if err != nil {
		n, err = c.base.rebuild(logical, err)
	}
	if err != nil {
		return bad()
	}
	if !bytes.Equal(n.Bytes()[lo-logical:hi-logical], data) {
		return bad()
	}
	return nil
}

// checkData checks the part of the write at a place in a chunk of data. A sector with a checksum in
// the last commit must get contents with that checksum. The kernel never overwrites such data
// (can_nocow_extent), and scrub and read repair write contents that match the checksum.
func (c *overwriteCheck) checkData(p place) error {
	return eachSum(c.base, p.logical, p.logical+p.n, func(logical uint64, sum []byte) error {
		return c.checkSector(p, logical, sum)
	})
}

// checkSector checks that a sector of data has its checksum after the write.
func (c *overwriteCheck) checkSector(p place, logical uint64, sum []byte) error {
	sector := uint64(c.base.rules.sectorSize)
	bad := func(what string) error {
		addr := p.addr + max(logical, p.logical) - p.logical
		return onWrite(violatedAt(liveDataRule, addr,
			"the data at logical address %d, which the last commit has a checksum for, is %s",
			logical, what))
	}
	if c.write.Discard {
		return bad("discarded")
	}
	b := make([]byte, sector)
	if logical < p.logical || logical+sector > p.logical+p.n { // the write has part of the sector
		if err := readFull(&overlay{c.disk, c.write}, b, p.addr+logical-p.logical); err != nil {
			return err
		}
	} else if data := p.contents(c.write); data != nil {
		b = data[logical-p.logical : logical-p.logical+sector]
	}
	if have := c.base.rules.csum.Sum(b); !bytes.Equal(have[:len(sum)], sum) {
		return bad(fmt.Sprintf("overwritten with contents that have %x instead of %x",
			have[:len(sum)], sum))
	}
	return nil
}

// checkLogKept checks that a write to a chunk of metadata leaves the blocks of the last log commit
// intact.
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
