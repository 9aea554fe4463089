package btrfs

import "fsward/interp/btrfs/ondisk"

// recentNodes is a direct-mapped cache of the blocks that one View has read recently. Some searches
// alternate between leaves, for example from the names of inodes to their hashes in a directory.
// The shared cache would lock and update its order of use each time. A View shows one state, whose
// blocks do not change meanwhile.
type recentNodes [recentCount]recentNode

// recentCount bounds the memory to 4 MiB with nodes of 16 KiB. Most of these blocks are in the
// shared cache as well.
const recentCount = 1 << 8

type recentNode struct {
	pointer pointer
	node    *ondisk.Node // nil: nothing was read yet
}

// at returns the only slot that may hold a block. Several blocks share a slot.
func (n *recentNodes) at(logical uint64) *recentNode {
	const multiplier = 0x9e3779b97f4a7c15 // spreads neighbors, and addresses powers of two apart
	return &n[logical>>12*multiplier>>56]
}
