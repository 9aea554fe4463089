package ext3

import (
	"slices"

	"fsward/interp/ext3/ondisk"
)

// index checks the index of a directory that got an index or whose blocks were rewritten. It checks
// the hashes of the names in the rewritten blocks, and in the blocks whose range of hashes changed.
func (d *dirDiff) index(ino uint32, before side, i ondisk.Inode, blocks []dirBlock) error {
	now := NewIndexReader(d.new, ino, i)
	if err := now.Read(); err != nil {
		return err
	}
	if len(now.faults) > 0 {
		for _, v := range now.faults {
			d.fault(v)
		}
		return nil
	}
	check, moved := make(map[uint32]bool), false
	for _, b := range blocks {
		n := uint32(b.start)
		check[n] = true
		moved = moved || n == 0 || now.nodes[n]
	}
	was := NewIndexReader(Snapshot{d.was, d.old.State}, ino, before.inode)
	if old := before.mapped(ino); moved && old != nil && old.HasIndex() {
		if err := was.Read(); err != nil {
			return err
		}
	}
	var suspects []uint32
	for n, own := range now.leaves {
		if check[n] || moved && was.leaves[n] != own {
			suspects = append(suspects, n)
		}
	}
	// The order is fixed, so that two runs report the same violations if there are too many to report
	// all.
	slices.Sort(suspects)
	for _, n := range suspects {
		if err := d.leafHashes(now, n, now.leaves[n]); err != nil {
			return err
		}
	}
	return nil
}

// leafHashes checks that the names in a block of a directory have hashes within the range that the
// index gives it.
func (d *dirDiff) leafHashes(r *IndexReader, n uint32, own hashRange) error {
	block, err := d.new.mapBlock(r.inode, uint64(n))
	if err != nil || block == 0 || !d.Geo.InRange(block) {
		return err
	}
	b, err := d.new.Block(block)
	if err != nil {
		return err
	}
	ondisk.Entries(b, d.Geo.FileType, func(e ondisk.Entry) {
		if h := r.hash.Of(e.Name); h < own.low || h > own.high {
			r.fault(block, e.Off, "%q has the hash %#x, its block is for %#x to %#x", e.Name, h, own.low,
				own.high)
		}
	})
	for _, v := range r.faults {
		d.fault(v)
	}
	r.faults = nil
	return nil
}

// elsewhere reports the names of new and moved entries that another entry of a rewritten block has.
// With an index, equal names are in one block. Without an index it looks for new names in the other
// blocks as well, as Linux does before it adds a name.
func (d *dirDiff) elsewhere(ino uint32, i ondisk.Inode, blocks []dirBlock) error {
	entry, name := d.names.came()
	if !entry {
		return nil
	}
	rewritten := make(map[uint64]bool, len(blocks))
	for _, b := range blocks {
		rewritten[b.start] = true
		if err := d.namesAgain(ino, b.block); err != nil {
			return err
		}
	}
	if !name || i.HasIndex() {
		return nil
	}
	for n := range i.DirBlocks(d.Geo.BlockSize) {
		if rewritten[n] {
			continue
		}
		block, err := d.new.mapBlock(i, n)
		if err != nil {
			return err
		}
		if block == 0 || !d.Geo.InRange(block) {
			continue
		}
		if err := d.namesAgain(ino, block); err != nil {
			return err
		}
	}
	return nil
}

// namesAgain reports the entries of a block whose names the table has at another place.
func (d *dirDiff) namesAgain(ino, block uint32) error {
	b, err := d.new.Block(block)
	if err != nil {
		return err
	}
	ondisk.Entries(b, d.Geo.FileType, func(e ondisk.Entry) {
		if d.names.twice(block, e) {
			d.fault(on(checkDirentName.at(d.Geo.Addr(block)+uint64(e.Off), "%q occurs twice", e.Name),
				ondisk.KindInode, uint64(ino)))
		}
	})
	return nil
}
