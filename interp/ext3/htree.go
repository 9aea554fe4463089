package ext3

import (
	"fsward/change"
	"fsward/interp/ext3/ondisk"
)

// A hashRange is what the index lets a block of a directory hold: the names with hashes from low to high.
type hashRange struct{ low, high uint32 }

// An IndexReader goes through the index of a directory in one state. It reads as many blocks as the index
// has, one for some 500 blocks of the directory.
type IndexReader struct {
	*Layout
	State  *State
	Dir    uint32
	Inode  ondisk.Inode
	hash   ondisk.DirHash
	leaves map[uint32]hashRange // by number in the directory
	Nodes  map[uint32]bool
	faults []change.Violation
}

func (r *IndexReader) fault(block uint32, off int, format string, args ...any) {
	if len(r.faults) < maxFaults {
		r.faults = append(r.faults, on(checkHtree.at(r.Geo.Addr(block)+uint64(off), format, args...), ondisk.KindInode, uint64(r.Dir)))
	}
}

// Read goes through the index. Afterwards leaves and nodes have all blocks of the directory but the first,
// unless faults were found.
func (r *IndexReader) Read() error {
	root := r.Inode.Pointer(0)
	if root == 0 || !r.Geo.InRange(root) {
		return nil // reported as a pointer
	}
	b, err := r.State.Block(root)
	if err != nil {
		return err
	}
	sb, err := r.State.super()
	if err != nil {
		return err
	}
	version, levels, before := b[ondisk.IndexRootInfo+4], b[ondisk.IndexRootInfo+6], len(r.faults)
	if n := ondisk.RecLen(b, 0); n != 12 {
		r.fault(root, 0, "the entry . takes %d bytes, want 12", n)
		return nil
	}
	switch {
	case ondisk.LE32(b, ondisk.IndexRootInfo) != 0:
		r.fault(root, ondisk.IndexRootInfo, "reserved_zero is %d", ondisk.LE32(b, ondisk.IndexRootInfo))
	case version >= ondisk.HashVersions:
		r.fault(root, ondisk.IndexRootInfo+4, "the hash version is %d", version)
	case b[ondisk.IndexRootInfo+5] != ondisk.IndexInfoLen:
		r.fault(root, ondisk.IndexRootInfo+5, "info_length is %d, want %d", b[ondisk.IndexRootInfo+5], ondisk.IndexInfoLen)
	case levels > ondisk.IndexMaxLevels:
		r.fault(root, ondisk.IndexRootInfo+6, "indirect_levels is %d, at most %d", levels, ondisk.IndexMaxLevels)
	case b[ondisk.IndexRootInfo+7]&1 != 0:
		r.fault(root, ondisk.IndexRootInfo+7, "unused_flags is %#x", b[ondisk.IndexRootInfo+7])
	}
	if len(r.faults) > before {
		return nil
	}
	r.hash = ondisk.NewDirHash(sb, version)
	r.leaves, r.Nodes = make(map[uint32]hashRange), make(map[uint32]bool)
	if err := r.entries(b, root, ondisk.IndexRootEntries, hashRange{0, ondisk.IndexMaxHash}, int(levels)); err != nil {
		return err
	}
	if blocks := r.Inode.DirBlocks(r.Geo.BlockSize); len(r.faults) == before && uint64(len(r.leaves)+len(r.Nodes))+1 != blocks {
		r.fault(root, ondisk.IndexRootEntries, "the index leads to %d blocks, the directory has %d", len(r.leaves)+len(r.Nodes), blocks)
	}
	return nil
}

// Entries goes through the entries of a root or node, which has the hashes of a range below it.
func (r *IndexReader) entries(b []byte, block uint32, at int, all hashRange, levels int) error {
	limit, count := int(ondisk.LE16(b, at)), int(ondisk.LE16(b, at+2))
	if fit := (len(b) - at) / ondisk.IndexEntryLen; limit != fit || count == 0 || count > limit {
		r.fault(block, at, "count is %d, limit %d; %d entries fit", count, limit, fit)
		return nil
	}
	blocks := r.Inode.DirBlocks(r.Geo.BlockSize)
	last := all.low
	for n := range count {
		off := at + n*ondisk.IndexEntryLen
		own := hashRange{all.low, all.high}
		if n > 0 {
			hash := ondisk.LE32(b, off)
			if hash < last {
				r.fault(block, off, "hash %#x comes after %#x", hash, last)
			}
			last, own.low = hash, hash&^1
		}
		if n+1 < count {
			own.high = ondisk.LE32(b, off+ondisk.IndexEntryLen) &^ 1
		}
		child := ondisk.LE32(b, off+4) & 0x0fffffff // the kernel's dx_get_block
		_, again := r.leaves[child]
		switch {
		case child == 0 || uint64(child) >= blocks:
			r.fault(block, off+4, "an entry leads to block %d of the directory, which has %d", child, blocks)
			continue
		case again || r.Nodes[child]:
			r.fault(block, off+4, "block %d of the directory is led to twice", child)
			continue
		case levels == 0:
			r.leaves[child] = own
			continue
		}
		r.Nodes[child] = true
		if err := r.node(child, own, levels-1); err != nil {
			return err
		}
	}
	return nil
}

func (r *IndexReader) node(child uint32, own hashRange, levels int) error {
	block, err := r.mapBlock(r.State, r.Inode, uint64(child))
	if err != nil || block == 0 || !r.Geo.InRange(block) {
		return err // a hole is told of where it is
	}
	b, err := r.State.Block(block)
	if err != nil {
		return err
	}
	if ondisk.LE32(b, 0) != 0 || ondisk.RecLen(b, 0) != len(b) || b[ondisk.DirNameLen] != 0 {
		r.fault(block, 0, "a node of the index does not begin with an empty entry")
		return nil
	}
	return r.entries(b, block, ondisk.IndexNodeEntries, own, levels)
}

// index checks the index of a directory that has one now, or of which blocks were rewritten, and that the names in these have the
// hashes that it says, and those in blocks for which it says something else than before.
func (d *delta) index(ino uint32, before side, i ondisk.Inode, blocks []dirBlock) error {
	now := &IndexReader{Layout: d.Layout, State: d.new, Dir: ino, Inode: i}
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
		moved = moved || n == 0 || now.Nodes[n]
	}
	was := &IndexReader{Layout: d.was, State: d.old, Dir: ino, Inode: before.inode}
	if old := before.mapped(ino); moved && old != nil && old.HasIndex() {
		if err := was.Read(); err != nil {
			return err
		}
	}
	for n, own := range now.leaves {
		if !check[n] && (!moved || was.leaves[n] == own) {
			continue
		}
		if err := d.leafHashes(now, n, own); err != nil {
			return err
		}
	}
	return nil
}

func (d *delta) leafHashes(r *IndexReader, n uint32, own hashRange) error {
	block, err := d.mapBlock(d.new, r.Inode, uint64(n))
	if err != nil || block == 0 || !d.Geo.InRange(block) {
		return err
	}
	b, err := d.new.Block(block)
	if err != nil {
		return err
	}
	ondisk.Entries(b, d.Geo.FileType, func(e ondisk.Dirent) {
		if h := r.hash.Of(e.Name); h < own.low || h > own.high {
			r.fault(block, e.Off, "%q has the hash %#x, its block is for %#x to %#x", e.Name, h, own.low, own.high)
		}
	})
	for _, v := range r.faults {
		d.fault(v)
	}
	r.faults = nil
	return nil
}

// elsewhere tells of names that came to a directory and that a block of it has already which the transaction
// did not rewrite. With an index, equal names are in one block; without, Linux looks through all of them too
// before it adds a name.
func (d *delta) elsewhere(ino uint32, i ondisk.Inode, blocks []dirBlock) error {
	if i.HasIndex() {
		return nil
	}
	rewritten := make(map[uint64]bool, len(blocks))
	for _, b := range blocks {
		rewritten[b.start] = true
	}
	for n := range i.DirBlocks(d.Geo.BlockSize) {
		if rewritten[n] {
			continue
		}
		block, err := d.mapBlock(d.new, i, n)
		if err != nil {
			return err
		}
		if block == 0 || !d.Geo.InRange(block) {
			continue
		}
		b, err := d.new.Block(block)
		if err != nil {
			return err
		}
		ondisk.Entries(b, d.Geo.FileType, func(e ondisk.Dirent) {
			if d.entries.came(e.Name) {
				d.fault(on(checkDirentName.at(d.Geo.Addr(block)+uint64(e.Off), "%q occurs twice", e.Name), ondisk.KindInode, uint64(ino)))
			}
		})
	}
	return nil
}
