package ext3

import (
	"fsward/change"
	"fsward/interp/ext3/ondisk"
)

// A hashRange is the range of hashes that the index gives to a block of a directory.
type hashRange struct{ low, high uint32 }

// An IndexReader walks the index of a directory in one state. It reads all blocks of the index,
// about one for each 500 blocks of the directory.
type IndexReader struct {
	Snapshot
	dir    uint32
	inode  ondisk.Inode
	hash   ondisk.DirHash
	leaves map[uint32]hashRange // by number of the block in the directory
	nodes  map[uint32]bool
	faults []change.Violation
}

// NewIndexReader returns a reader of the index of a directory, whose inode is i.
func NewIndexReader(s Snapshot, dir uint32, i ondisk.Inode) *IndexReader {
	return &IndexReader{Snapshot: s, dir: dir, inode: i}
}

// IsNode reports whether a block of the directory is a node of the index. Call it after Read.
func (r *IndexReader) IsNode(n uint32) bool { return r.nodes[n] }

func (r *IndexReader) fault(block uint32, off int, format string, args ...any) {
	if len(r.faults) < maxFaults {
		r.faults = append(r.faults, on(checkHtree.at(r.Geo.Addr(block)+uint64(off), format, args...),
			ondisk.KindInode, uint64(r.dir)))
	}
}

// Read walks the index. Afterwards leaves and nodes hold all blocks of the directory but the first,
// unless there are faults.
func (r *IndexReader) Read() error {
	root := r.inode.Pointer(0)
	if root == 0 || !r.Geo.InRange(root) {
		return nil // reported as a bad pointer
	}
	b, err := r.Block(root)
	if err != nil {
		return err
	}
	sb, err := r.super()
	if err != nil {
		return err
	}
	head, before := ondisk.IndexHeadOf(b[ondisk.IndexRootInfo:]), len(r.faults)
	version, levels := head.HashVersion(), head.IndirectLevels()
	if n := ondisk.RecLen(b, 0); n != ondisk.DotLen {
		r.fault(root, 0, "the entry . takes %d bytes, want %d", n, ondisk.DotLen)
		return nil
	}
	switch {
	case head.ReservedZero() != 0:
		r.fault(root, ondisk.IndexRootInfo+ondisk.IndexHeadReservedZeroAt, "reserved_zero is %d",
			head.ReservedZero())
	case version >= ondisk.HashVersions:
		r.fault(root, ondisk.IndexRootInfo+ondisk.IndexHeadHashVersionAt, "the hash version is %d",
			version)
	case head.InfoLength() != ondisk.IndexInfoLen:
		r.fault(root, ondisk.IndexRootInfo+ondisk.IndexHeadInfoLengthAt, "info_length is %d, want %d",
			head.InfoLength(), ondisk.IndexInfoLen)
	case levels > ondisk.IndexMaxLevels:
		r.fault(root, ondisk.IndexRootInfo+ondisk.IndexHeadIndirectLevelsAt,
			"indirect_levels is %d, at most %d", levels, ondisk.IndexMaxLevels)
	case head.UnusedFlags()&1 != 0:
		r.fault(root, ondisk.IndexRootInfo+ondisk.IndexHeadUnusedFlagsAt, "unused_flags is %#x",
			head.UnusedFlags())
	}
	if len(r.faults) > before {
		return nil
	}
	r.hash = ondisk.NewDirHash(sb, version)
	r.leaves, r.nodes = make(map[uint32]hashRange), make(map[uint32]bool)
	if err := r.entries(b, root, ondisk.IndexRootEntries, hashRange{0, ondisk.IndexMaxHash},
		int(levels)); err != nil {
		return err
	}
	if blocks := r.inode.DirBlocks(r.Geo.BlockSize); len(r.faults) == before &&
		uint64(len(r.leaves)+len(r.nodes))+1 != blocks {
		r.fault(root, ondisk.IndexRootEntries, "the index leads to %d blocks, the directory has %d",
			len(r.leaves)+len(r.nodes), blocks)
	}
	return nil
}

// entries walks the entries of a root or node that covers a range of hashes.
func (r *IndexReader) entries(b []byte, block uint32, at int, all hashRange, levels int) error {
	head := ondisk.IndexHeadOf(b[at-ondisk.IndexInfoLen:])
	limit, count := int(head.Limit()), int(head.Count())
	if fit := (len(b) - at) / ondisk.IndexEntryLen; limit != fit || count == 0 || count > limit {
		r.fault(block, at, "count is %d, limit %d; %d entries fit", count, limit, fit)
		return nil
	}
	blocks := r.inode.DirBlocks(r.Geo.BlockSize)
	last := all.low
	for n := range count {
		off := at + n*ondisk.IndexEntryLen
		entry, own := ondisk.IndexEntryOf(b[off:]), hashRange{all.low, all.high}
		if n > 0 {
			hash := entry.Hash()
			if hash < last {
				r.fault(block, off, "hash %#x comes after %#x", hash, last)
			}
			last, own.low = hash, hash&^1
		}
		if n+1 < count {
			own.high = ondisk.IndexEntryOf(b[off+ondisk.IndexEntryLen:]).Hash() &^ 1
		}
		child := entry.Block() & 0x0fffffff // the kernel's dx_get_block
		_, again := r.leaves[child]
		switch {
		case child == 0 || uint64(child) >= blocks:
			r.fault(block, off+ondisk.IndexEntryBlockAt,
				"an entry leads to block %d of the directory, which has %d", child, blocks)
			continue
		case again || r.nodes[child]:
			r.fault(block, off+ondisk.IndexEntryBlockAt, "block %d of the directory is led to twice", child)
			continue
		case levels == 0:
			r.leaves[child] = own
			continue
		}
		r.nodes[child] = true
		if err := r.node(child, own, levels-1); err != nil {
			return err
		}
	}
	return nil
}

func (r *IndexReader) node(child uint32, own hashRange, levels int) error {
	block, err := r.mapBlock(r.inode, uint64(child))
	if err != nil || block == 0 || !r.Geo.InRange(block) {
		return err // a hole is reported where it is found
	}
	b, err := r.Block(block)
	if err != nil {
		return err
	}
	if head := ondisk.DirentHeadOf(b); head.Inode() != 0 || ondisk.RecLen(b, 0) != len(b) ||
		head.NameLen() != 0 {
		r.fault(block, 0, "a node of the index does not begin with an empty entry")
		return nil
	}
	return r.entries(b, block, ondisk.IndexNodeEntries, own, levels)
}
