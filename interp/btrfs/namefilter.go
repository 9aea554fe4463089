package btrfs

import (
	"encoding/binary"
	"hash/maphash"

	"fsward/interp/btrfs/ondisk"
)

const (
	filterBits  = 1 << 13 // eight for each of the shortest names that fit into an inode_ref
	filterShift = 64 - 6  // leaves the slot of a hash
	filterItems = 1 << 6  // inodes whose names a directory has in turn
	filterFrom  = 1 << 10 // bytes of an inode_ref from which a filter costs less than a search
)

// nameFilters tell for the last full inode_refs which names they cannot have: most names of such an
// inode are in inode_extrefs, and each search would compare hundreds of others. A directory has its
// entries in the order of hashes, so that the names of all its files come in turn. Several items
// share a slot.
type nameFilters struct {
	seed  maphash.Seed
	items [filterItems]*nameFilter // nil: not used yet
}

// A nameFilter has a bit set for the hash of each name in an item.
type nameFilter struct {
	item itemRef
	bits [filterBits / 64]uint64
}

func newNameFilters() *nameFilters { return &nameFilters{seed: maphash.MakeSeed()} }

// mayHold reports whether an inode_ref with a key has a name, perhaps, or is malformed.
func (f *nameFilters) mayHold(k ondisk.Key, item itemRef, name []byte) bool {
	if item.data().Len() < filterFrom {
		return true
	}
	h := maphash.Bytes(f.seed, name) % filterBits
	return f.of(k, item).bits[h/64]>>(h%64)&1 != 0
}

// of returns the filter of an item. All bits are set if the item is malformed.
func (f *nameFilters) of(k ondisk.Key, item itemRef) *nameFilter {
	const multiplier = 0x9e3779b97f4a7c15 // spreads neighbors, and numbers powers of two apart
	slot := &f.items[(k.ObjectID+k.Offset)*multiplier>>filterShift]
	if *slot != nil && (*slot).item == item {
		return *slot
	}
	if *slot == nil {
		*slot = new(nameFilter)
	}
	n := *slot
	*n = nameFilter{item: item}
	b := item.data().Bytes()
	for len(b) >= ondisk.InodeRefSize {
		length := int(binary.LittleEndian.Uint16(b[ondisk.InodeRefNameLenAt:]))
		if b = b[ondisk.InodeRefSize:]; length > len(b) {
			break
		}
		h := maphash.Bytes(f.seed, b[:length]) % filterBits
		n.bits[h/64] |= 1 << (h % 64)
		b = b[length:]
	}
	if len(b) > 0 {
		for i := range n.bits {
			n.bits[i] = ^uint64(0)
		}
	}
	return n
}
