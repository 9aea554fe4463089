package btrfs

import (
	"encoding/binary"

	"fsward/change"
	"fsward/interp/disk"
)

// Layout of struct btrfs_header and what follows it in a node or leaf.
const (
	headerSize = 101
	itemSize   = 25 // struct btrfs_item
	ptrSize    = 33 // struct btrfs_key_ptr

	mixedBackrefRev = 1 // BTRFS_MIXED_BACKREF_REV, of every file system since Linux 2.6.31
)

// A node is a view on a metadata block that has passed checkNode: every index below nritems is within
// the bytes, every item of a leaf lies in them, and keys grow.
type node struct {
	r disk.Region // Addr is that of the first copy
}

func (n *node) logical() uint64    { return n.r.U64(48) }
func (n *node) flags() uint64      { return n.r.U64(56) & (1<<56 - 1) }
func (n *node) generation() uint64 { return n.r.U64(80) }
func (n *node) owner() uint64      { return n.r.U64(88) }
func (n *node) nritems() int       { return int(n.r.U32(96)) }
func (n *node) level() uint8       { return n.r.U8(100) }
func (n *node) addr() uint64       { return n.r.Addr() }
func (n *node) chunkTreeUUID() [16]byte {
	return [16]byte(n.r.Bytes()[64:80])
}

// readKey reads a btrfs_disk_key; the caller has checked that it lies within r.
func readKey(r disk.Region, off int) key {
	b := r.Bytes()[off : off+keySize]
	return key{binary.LittleEndian.Uint64(b), b[8], binary.LittleEndian.Uint64(b[9:])}
}

// key returns the key of item or pointer i.
func (n *node) key(i int) key {
	if n.level() == 0 {
		return readKey(n.r, headerSize+i*itemSize)
	}
	return readKey(n.r, headerSize+i*ptrSize)
}

// child returns the address and generation in pointer i of a node above the leaves.
func (n *node) child(i int) (logical, generation uint64) {
	at := headerSize + i*ptrSize + keySize
	return n.r.U64(at), n.r.U64(at + 8)
}

// item returns the data of item i of a leaf.
func (n *node) item(i int) disk.Region {
	at := headerSize + i*itemSize + keySize
	// checkNode has made sure of the bounds; a Region that is none is empty, not a panic.
	r, _ := n.r.Sub(headerSize+uint64(n.r.U32(at)), uint64(n.r.U32(at+4)))
	return r
}

// search returns the index of the first key that is not below k.
func (n *node) search(k key) (i int, found bool) { return n.bisect(0, n.nritems(), k) }

// searchFrom is search for a key that is likely to be near index at.
func (n *node) searchFrom(at int, k key) (i int, found bool) {
	lo, hi := 0, n.nritems()
	if at >= hi {
		return n.bisect(lo, hi, k)
	}
	for step := 1; ; step *= 2 { // away from at, until k is passed
		switch c := n.key(at).compare(k); {
		case c == 0:
			return at, true
		case c < 0:
			lo = at + 1
			if at += step; at >= hi {
				return n.bisect(lo, hi, k)
			}
		default:
			hi = at
			if at -= step; at < lo {
				return n.bisect(lo, hi, k)
			}
		}
	}
}

// bisect is search among the keys from lo on and before hi, where the answer is known to be, or to be hi.
func (n *node) bisect(lo, hi int, k key) (i int, found bool) {
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		switch c := n.key(mid).compare(k); {
		case c == 0:
			return mid, true
		case c < 0:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return lo, false
}

// nodeRules is what every metadata block of a file system has in common.
type nodeRules struct {
	nodeSize, sectorSize uint32
	csum                 csumType
	fsid                 [16]byte // metadata_uuid if the feature is on
	chunkTreeUUID        [16]byte
	anyChunkTree         bool // chunkTreeUUID is not known yet
}

// checkNode checks the bytes of a metadata block that stands at r.Addr() and is to have a logical
// address: what btrfs_validate_extent_buffer, btrfs_check_leaf and btrfs_check_node look at, without
// the contents of items.
func checkNode(r disk.Region, logical uint64, rules nodeRules) (*node, error) {
	bad := func(rule structureRule, format string, args ...any) (*node, error) {
		return nil, violatedAt(rule, r.Addr(), "block %d: "+format, append([]any{logical}, args...)...)
	}
	if uint32(r.Len()) != rules.nodeSize || rules.nodeSize < 4096 {
		return bad(headerRule, "%d bytes, nodesize is %d", r.Len(), rules.nodeSize)
	}
	b := r.Bytes()
	if err := rules.csum.check(b); err != nil {
		return bad(csumRule, "%v", err)
	}
	n := &node{r}
	switch {
	case n.logical() != logical:
		return bad(headerRule, "bytenr is %d", n.logical())
	case [16]byte(b[32:48]) != rules.fsid:
		return bad(headerRule, "fsid is %x", b[32:48])
	case !rules.anyChunkTree && n.chunkTreeUUID() != rules.chunkTreeUUID:
		return bad(headerRule, "chunk_tree_uuid is %x", b[64:80])
	case n.flags()&headerFlagWritten == 0:
		return bad(headerRule, "the flag WRITTEN is not set (flags %#x)", n.flags())
	case n.flags()&^(headerFlagWritten|headerFlagReloc) != 0:
		return bad(headerRule, "flags are %#x", n.flags())
	case b[63] != mixedBackrefRev:
		return bad(headerRule, "backref_rev is %d, want %d", b[63], mixedBackrefRev)
	case n.level() >= maxLevel:
		return bad(levelRule, "level is %d, at most %d", n.level(), maxLevel-1)
	}
	if n.level() == 0 {
		return n, n.checkItems(rules)
	}
	return n, n.checkPointers(rules)
}

// checkItems checks the item headers of a leaf (__btrfs_check_leaf).
func (n *node) checkItems(rules nodeRules) error {
	dataSize := rules.nodeSize - headerSize
	count := n.r.U32(96)
	if count > dataSize/itemSize {
		return violatedAt(nritemsRule, n.addr(), "block %d: nritems is %d, at most %d fit", n.logical(), count, dataSize/itemSize)
	}
	if count == 0 && n.flags()&headerFlagReloc == 0 && neverEmpty(n.owner()) {
		return violatedAt(nritemsRule, n.addr(), "block %d: tree %s is empty", n.logical(), change.NumText(n.owner()))
	}
	end := dataSize
	for i := range int(count) {
		at := headerSize + i*itemSize
		off, size := n.r.U32(at+keySize), n.r.U32(at+keySize+4)
		if off > end || size != end-off || off < count*itemSize {
			return violatedAt(itemBoundsRule, n.addr(), "block %d: item %d has %d bytes at offset %d, it should end at %d and not begin before %d",
				n.logical(), i, size, off, end, count*itemSize).in(n.owner(), n.key(i))
		}
		end = off
		if i > 0 && n.key(i-1).compare(n.key(i)) >= 0 {
			return n.keyOrder(i)
		}
	}
	return nil
}

// neverEmpty tells whether a tree has items in any file system. There is no tree 0.
func neverEmpty(tree uint64) bool {
	switch tree {
	case 0, rootTreeID, extentTreeID, chunkTreeID, devTreeID, fsTreeID, dataRelocTreeID:
		return true
	}
	return false
}

// checkPointers checks the pointers of a node (btrfs_check_node).
func (n *node) checkPointers(rules nodeRules) error {
	most := (rules.nodeSize - headerSize) / ptrSize
	count := n.r.U32(96)
	if count == 0 || count > most {
		return violatedAt(nritemsRule, n.addr(), "block %d: nritems is %d, from 1 to %d fit", n.logical(), count, most)
	}
	for i := range int(count) {
		logical, generation := n.child(i)
		if logical == 0 || logical%uint64(rules.sectorSize) != 0 {
			return violatedAt(pointerRule, n.addr(), "block %d: pointer %d leads to %d, which is not a multiple of sectorsize", n.logical(), i, logical)
		}
		if generation == 0 || generation > n.generation() {
			return violatedAt(generationRule, n.addr(), "block %d of generation %d: pointer %d has generation %d", n.logical(), n.generation(), i, generation)
		}
		if i > 0 && n.key(i-1).compare(n.key(i)) >= 0 {
			return n.keyOrder(i)
		}
	}
	return nil
}

func (n *node) keyOrder(i int) error {
	return violatedAt(keyOrderRule, n.addr(), "block %d: key %d is %s, the one before it is %s", n.logical(), i, keyText(n.key(i)), keyText(n.key(i-1))).in(n.owner(), n.key(i))
}
