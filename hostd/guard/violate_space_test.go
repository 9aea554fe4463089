package guard_test

// spaceLoad makes and removes chunks, shares extents between files and snapshots, and frees some,
// so that most commits change every account of space.
const spaceLoad = `
	btrfs -q subvolume create sub
	for i in $(seq 200); do echo $i > sub/small$i; done
	for i in 1 2 3; do
		head -c 200000 /dev/urandom > sub/f$i; cp --reflink=always sub/f$i sub/g$i
		fallocate -l 40M big$i
		sync -f .
		btrfs -q subvolume snapshot sub snap$i
		dd if=/dev/urandom of=sub/f$i bs=4096 seek=10 count=3 conv=notrunc status=none
		sync -f .
		rm sub/g$i; [ $i = 1 ] || { rm big$((i - 1)); btrfs -q subvolume delete snap$((i - 1)); }
		sync -f .
	done
	btrfs -q balance start -dusage=0 .
	sync -f .`

// spaceViolations lists ways to violate the rules about space.
var spaceViolations = []violation{
	{"btrfs/1", "metadata_item.tree_block_ref.root=5", 2},
	{"btrfs/8", "extent_item.shared_data_ref.parent+16384", 2},
	{"btrfs/1", "metadata_item.tree_block_ref.root=16387", 2},
	{"btrfs/74", "metadata_item!delete", 2},
	// a leaf that a new snapshot shares with its source
	{"btrfs/74", "metadata_item.tree_block_ref.root+4096@tree_block_ref.root=257,offset=0", 2},
	{"btrfs/75", "metadata_item.key.offset+1", 2},
	// of a tree that has no snapshots
	{"btrfs/101", "metadata_item.flags^0x100@tree_block_ref.root=7,offset=0", 2},
	// a node, whose children have no references of it
	{"btrfs/101", "metadata_item.flags^0x100@tree_block_ref.root=256,offset=1", 2},
	// a leaf that snapshots have
	{"btrfs/101", "metadata_item.flags^0x100@flags=0x102", 2},
	{"btrfs/106", "metadata_item.generation-1", 2},
	{"btrfs/105", "header.owner+4096@tree=256,level=0", 2},
	{"btrfs/5", "extent_data.disk_num_bytes+4096@type=1", 2},
	{"btrfs/5", "extent_data.disk_bytenr+4096@type=1", 2},
	{"btrfs/7", "extent_data.offset+4096@type=1", 2},
	{"btrfs/9", "extent_item.refs+1", 2},
	{"btrfs/9", "metadata_item.refs+1", 2},
	{"btrfs/10", "extent_item.extent_data_ref.objectid+1@offset=20971520", 2},
	{"btrfs/71", "extent_data.offset+4096@type=1", 2},
	{"btrfs/21", "inode_item.flags=1@mode=0o100644,size=200000", 2},
	{"btrfs/22", "inode_item.flags=1@objectid=459,size=200000", 2},
	{"btrfs/23", "extent_csum!delete", 2},
	{"btrfs/72", "extent_item!delete@offset=200704", 2},
	{"btrfs/41", "block_group_item.flags=2@flags=1", 2},
	{"btrfs/41", "chunk_item.length-65536@type=1", 1},
	{"btrfs/42", "dev_extent.chunk_offset+65536", 1},
	{"btrfs/42", "dev_extent!delete", 1},
	{"btrfs/43", "dev_item.bytes_used+65536", 1},
	{"btrfs/43", "dev_extent.length+65536", 1},
	{"btrfs/44", "dev_extent.length+1073741824", 1},
	{"btrfs/45", "dev_item.total_bytes+4096", 1},
	{"btrfs/46", "dev_item.total_bytes-4096", 1},
	{"btrfs/47", "block_group_item.used+4096", 2},
	{"btrfs/48", "block_group_item.used-4096@flags=1", 2},
	{"btrfs/48", "extent_item!delete", 2},
	{"btrfs/76", "free_space_info.key.offset+4096", 2},
	{"btrfs/76", "block_group_item!delete", 2},
	{"btrfs/77", "free_space_extent.key.objectid^0x8000000000000000", 2},
	{"btrfs/77", "free_space_info!delete", 2},
	{"btrfs/78", "block_group_item.used-4096@flags=1", 2},
	{"btrfs/79", "free_space_info.extent_count+1", 2},
	{"btrfs/80", "free_space_extent.key.objectid-4096", 2},
	{"btrfs/81", "extent_item.key.offset+4096", 2},
	{"btrfs/49", "extent_item.key.offset=1073741824", 2},
}

// bitmapLoad breaks the free space into so many pieces that block groups use several bitmaps: runs
// of free sectors cross the border between two bitmaps, and are cut there.
const bitmapLoad = `
	for i in $(seq 480); do head -c 65536 /dev/zero > f$i; done; sync -f .
	rm f*[13579]; sync -f .
	for i in 2 4 6 8 0; do
		for j in $(seq 20); do head -c 200000 /dev/zero > g$i-$j; done; sync -f .
		rm f*$i; sync -f .
	done`

// bitmapViolations lists ways to violate the rules about free space in bitmaps.
var bitmapViolations = []violation{
	{"btrfs/79", "free_space_info.extent_count+1@flags=1", 3},
	{"btrfs/77", "free_space_info.flags=0@flags=1", 3},
	{"btrfs/78", "free_space_bitmap!delete", 3},
	{"btrfs/107", "free_space_bitmap.key.offset-4096", 3},
}
