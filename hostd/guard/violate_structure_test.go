package guard_test

// structureViolations lists ways to violate, in the recording of spaceLoad, the checks before the
// rules. Its trees have nodes.
var structureViolations = []violation{
	{"btrfs/nritems", "header.nritems=60000@level=0", 2},
	{"btrfs/nritems", "header.nritems=0@level=1", 2},
	{"btrfs/key-order", "key_ptr!swapkeys", 2},
	{"btrfs/key-order", "inode_item!swapkeys", 2},
	{"btrfs/parent-key", "key_ptr.key.offset+1", 2},
	{"btrfs/misdirected", "header.bytenr+16384", 2},
	{"btrfs/generation", "key_ptr.generation+1", 2},
	{"btrfs/generation", "key_ptr.generation-1", 2},
	{"btrfs/csum-type", "super_block.csum_type=4", 2},
}
