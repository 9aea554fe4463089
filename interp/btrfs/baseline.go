package btrfs

import (
	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// Needs returns a function that reports whether Image may read part of a range of the disk in the
// present state: a superblock, or a chunk with metadata, where the log lies too.
func (f *FS) Needs() func(off, n uint64) bool {
	chunks := f.base.chunks
	return func(off, n uint64) bool {
		disk, _ := interp.Locate(off)
		for _, at := range ondisk.SuperOffsets {
			if overlap(off, n, interp.Address(disk, at), ondisk.SuperSize) {
				return true
			}
		}
		return chunks.holdsMetadata(off, n)
	}
}

// applyImageOptions sets the bounds and the progress report of a whole image, which is a comparison
// without a base.
func (d *diff) applyImageOptions(options *interp.ImageOptions) {
	d.out.memory, d.out.drop, d.out.dropped = options.Budget, options.Budget != nil, options.Stream
	d.alone, d.images = options.Budget != nil, options.CompareSnapshots
	if tell := options.Progress; tell != nil {
		var total uint64
		counted := false
		d.budget.read = func(blocks uint64) {
			// At first, only the chunks of the chunk tree are known.
			if !counted && d.new.chunks.find(d.new.sb.Root(), 1) != nil {
				counted, total = true, d.new.metadataBlocks()
			}
			tell(blocks, max(total, blocks))
		}
	}
}

// metadataBlocks returns the number of metadata blocks that the block groups count as used, or 0 if
// it cannot be read.
func (s *state) metadataBlocks() (blocks uint64) {
	for i := range s.chunks.chunks {
		c := &s.chunks.chunks[i]
		if c.typ&(ondisk.GroupMetadata|ondisk.GroupSystem) == 0 {
			continue
		}
		used, err := s.used(c)
		if err != nil {
			return 0
		}
		blocks += used / uint64(s.rules.nodeSize)
	}
	return blocks
}

// used returns the number of bytes in use in the block group of a chunk, or 0 if there is none.
func (s *state) used(c *chunk) (uint64, error) {
	for _, tree := range []uint64{ondisk.BlockGroupTreeID, ondisk.ExtentTreeID} {
		root, ok, err := s.treeRoot(tree)
		if err != nil {
			return 0, err
		}
		if !ok {
			continue
		}
		k := ondisk.Key{ObjectID: c.logical, Type: ondisk.BlockGroupItemKey, Offset: c.length}
		p, ok, err := s.seek(tree, root.pointer, k)
		if err != nil {
			return 0, err
		}
		if ok && p.key() == k {
			item := p.item()
			return item.used(), nil
		}
	}
	return 0, nil
}
