package btrfs

import (
	"slices"

	"fsward/change"
	"fsward/interp/btrfs/ondisk"
	"fsward/interp/disk"
)

// nodeRules are the values that every metadata block of a file system must have.
type nodeRules struct {
	nodeSize, sectorSize uint32
	csum                 ondisk.CsumType
	fsid                 [16]byte   // metadata_uuid if the feature is on
	seeds                [][16]byte // the fsids of seeds, whose blocks a sprout shares
	chunkTreeUUID        [16]byte
	anyChunkTree         bool // chunkTreeUUID is not known yet
}

// checkNode checks the metadata block at a logical address, whose bytes come from device address
// r.Addr(). It follows btrfs_validate_extent_buffer, btrfs_check_leaf and btrfs_check_node, without
// the contents of items.
func checkNode(r disk.Region, logical uint64, rules nodeRules) (*ondisk.Node, error) {
	bad := func(rule structureRule, format string, args ...any) (*ondisk.Node, error) {
		args = append([]any{logical}, args...)
		return nil, violatedAt(rule, r.Addr(), "block %d: "+format, args...)
	}
	if uint32(r.Len()) != rules.nodeSize || rules.nodeSize < 4096 {
		return bad(headerRule, "%d bytes, nodesize is %d", r.Len(), rules.nodeSize)
	}
	b := r.Bytes()
	if err := rules.csum.Check(b); err != nil {
		return bad(csumRule, "%v", err)
	}
	n, _ := ondisk.NewNode(r) // nodesize exceeds the size of a header
	switch {
	case n.Logical() != logical:
		return bad(headerRule, "bytenr is %d", n.Logical())
	case n.FSID() != rules.fsid && !slices.Contains(rules.seeds, n.FSID()):
		return bad(headerRule, "fsid is %x", n.FSID())
	case !rules.anyChunkTree && n.ChunkTreeUUID() != rules.chunkTreeUUID:
		return bad(headerRule, "chunk_tree_uuid is %x", n.ChunkTreeUUID())
	case n.Flags()&ondisk.HeaderFlagWritten == 0:
		return bad(headerRule, "the flag WRITTEN is not set (flags %#x)", n.Flags())
	case n.Flags()&^(ondisk.HeaderFlagWritten|ondisk.HeaderFlagReloc) != 0:
		return bad(headerRule, "flags are %#x", n.Flags())
	case n.BackrefRev() != ondisk.MixedBackrefRev:
		return bad(headerRule, "backref_rev is %d, want %d", n.BackrefRev(), ondisk.MixedBackrefRev)
	case n.Level() >= ondisk.MaxLevel:
		return bad(levelRule, "level is %d, at most %d", n.Level(), ondisk.MaxLevel-1)
	}
	if n.Level() == 0 {
		return n, checkItems(n, rules)
	}
	return n, checkPointers(n, rules)
}

// checkItems checks the item headers of a leaf (__btrfs_check_leaf).
func checkItems(n *ondisk.Node, rules nodeRules) error {
	dataSize := rules.nodeSize - ondisk.HeaderSize
	count := uint32(n.NrItems())
	if count > dataSize/ondisk.ItemSize {
		return violatedAt(nritemsRule, n.Addr(), "block %d: nritems is %d, at most %d fit",
			n.Logical(), count, dataSize/ondisk.ItemSize)
	}
	if count == 0 && n.Flags()&ondisk.HeaderFlagReloc == 0 && neverEmpty(n.Owner()) {
		return violatedAt(nritemsRule, n.Addr(), "block %d: tree %s is empty",
			n.Logical(), change.NumText(n.Owner()))
	}
	end := dataSize
	for i := range int(count) {
		off, size := n.ItemRange(i)
		if off > end || size != end-off || off < count*ondisk.ItemSize {
			e := violatedAt(itemBoundsRule, n.Addr(), "block %d: item %d has %d bytes at offset %d, "+
				"it should end at %d and not begin before %d",
				n.Logical(), i, size, off, end, count*ondisk.ItemSize)
			return e.in(n.Owner(), n.Key(i))
		}
		end = off
		if i > 0 && n.Key(i-1).Compare(n.Key(i)) >= 0 {
			return keyOrderError(n, i)
		}
	}
	return nil
}

// neverEmpty reports whether a tree has items in every file system. Tree 0 does not exist.
func neverEmpty(tree uint64) bool {
	switch tree {
	case 0, ondisk.RootTreeID, ondisk.ExtentTreeID, ondisk.ChunkTreeID, ondisk.DevTreeID,
		ondisk.FSTreeID, ondisk.DataRelocTreeID:
		return true
	}
	return false
}

// checkPointers checks the pointers of a node (btrfs_check_node).
func checkPointers(n *ondisk.Node, rules nodeRules) error {
	most := (rules.nodeSize - ondisk.HeaderSize) / ondisk.KeyPtrSize
	count := uint32(n.NrItems())
	if count == 0 || count > most {
		return violatedAt(nritemsRule, n.Addr(), "block %d: nritems is %d, from 1 to %d fit",
			n.Logical(), count, most)
	}
	for i := range int(count) {
		logical, generation := n.Child(i)
		if logical == 0 || logical%uint64(rules.sectorSize) != 0 {
			return violatedAt(pointerRule, n.Addr(),
				"block %d: pointer %d leads to %d, which is not a multiple of sectorsize",
				n.Logical(), i, logical)
		}
		if generation == 0 || generation > n.Generation() {
			return violatedAt(generationRule, n.Addr(),
				"block %d of generation %d: pointer %d has generation %d",
				n.Logical(), n.Generation(), i, generation)
		}
		if i > 0 && n.Key(i-1).Compare(n.Key(i)) >= 0 {
			return keyOrderError(n, i)
		}
	}
	return nil
}

// keyOrderError returns the error for key i of a block that is not above the key before it.
func keyOrderError(n *ondisk.Node, i int) error {
	e := violatedAt(keyOrderRule, n.Addr(), "block %d: key %d is %s, the one before it is %s",
		n.Logical(), i, n.Key(i).String(), n.Key(i-1).String())
	return e.in(n.Owner(), n.Key(i))
}
