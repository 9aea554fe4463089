package btrfs

import "fsward/interp/btrfs/ondisk"

// nearNodes are the blocks that one View has read of late. A search that goes back and forth
// between leaves, as from the names of inodes to their hashes in a directory, would ask the cache
// for each, which is locked and keeps their order of use. A View is of one state, whose blocks do
// not change while it is read.
type recentNodes [recentCount]recentNode

// nearCount bounds the memory to 4 MiB where nodes have 16 KiB; most of these blocks are in the
// cache as well.
const recentCount = 1 << 8

type recentNode struct {
	pointer pointer
	node    *ondisk.Node // nil: nothing was read yet
}

// at is the one place of a block, which it shares with others.
func (n *recentNodes) at(logical uint64) *recentNode {
	const multiplier = 0x9e3779b97f4a7c15 // spreads neighbours, and what lies powers of two apart
	return &n[logical>>12*multiplier>>56]
}
