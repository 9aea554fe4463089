% Space is allocated, and the free space does not change.
rule(78).
rule(79).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),generation,9).
state(0,k(0,super_block,0),uuid_tree_generation,9).
state(0,k(0,super_block,0),f(compat_ro_flags,free_space_tree_valid),1).
state(0,k(0,super_block,0),sectorsize,4096).
state(0,k(0,super_block,0),nodesize,16384).
change(2,k(65536,block_group_item,65536),object,present,present).
change(2,k(65536,block_group_item,65536),used,4096,8192).
object(2,k(65536,block_group_item,65536)).
state(2,k(65536,block_group_item,65536),used,8192).
object(10,k(65536,free_space_info,65536)).
state(10,k(65536,free_space_info,65536),flags,0).
state(10,k(65536,free_space_info,65536),extent_count,1).

% A free extent is added, another is removed, and a bit is set. Neither used nor the count of free
% extents changes.
object(2,k(131072,block_group_item,65536)).
state(2,k(131072,block_group_item,65536),used,4096).
object(10,k(131072,free_space_info,65536)).
state(10,k(131072,free_space_info,65536),flags,0).
state(10,k(131072,free_space_info,65536),extent_count,1).
change(10,k(139264,free_space_extent,4096),object,null,present).
change(10,k(139264,free_space_extent,4096),chunk,null,131072).
object(10,k(139264,free_space_extent,4096)).
state(10,k(139264,free_space_extent,4096),chunk,131072).
object(2,k(196608,block_group_item,65536)).
state(2,k(196608,block_group_item,65536),used,4096).
object(10,k(196608,free_space_info,65536)).
state(10,k(196608,free_space_info,65536),flags,0).
state(10,k(196608,free_space_info,65536),extent_count,1).
change(10,k(204800,free_space_extent,4096),object,present,null).
change(10,k(204800,free_space_extent,4096),chunk,196608,null).
object(2,k(262144,block_group_item,65536)).
state(2,k(262144,block_group_item,65536),used,4096).
object(10,k(262144,free_space_info,65536)).
state(10,k(262144,free_space_info,65536),flags,1).
state(10,k(262144,free_space_info,65536),extent_count,1).
change(10,k(262144,free_space_bitmap,65536),object,present,present).
change(10,k(262144,free_space_bitmap,65536),free,8,9).
object(10,k(262144,free_space_bitmap,65536)).
state(10,k(262144,free_space_bitmap,65536),chunk,262144).
state(10,k(262144,free_space_bitmap,65536),free,9).
state(10,k(262144,free_space_bitmap,65536),first,0).
state(10,k(262144,free_space_bitmap,65536),last,0).
change(10,k(262144,free_space_run,a(65536,270336)),object,null,present).
change(10,k(262144,free_space_run,a(65536,270336)),chunk,null,262144).
change(10,k(262144,free_space_run,a(65536,270336)),end,null,274432).

% Only the count of free extents changes.
object(2,k(327680,block_group_item,65536)).
state(2,k(327680,block_group_item,65536),used,4096).
change(10,k(327680,free_space_info,65536),object,present,present).
change(10,k(327680,free_space_info,65536),extent_count,1,2).
object(10,k(327680,free_space_info,65536)).
state(10,k(327680,free_space_info,65536),flags,0).
state(10,k(327680,free_space_info,65536),extent_count,2).

% A new block group has no free space, and few bytes in use.
change(2,k(393216,block_group_item,65536),object,null,present).
change(2,k(393216,block_group_item,65536),used,null,4096).
object(2,k(393216,block_group_item,65536)).
state(2,k(393216,block_group_item,65536),used,4096).
change(10,k(393216,free_space_info,65536),object,null,present).
change(10,k(393216,free_space_info,65536),flags,null,0).
change(10,k(393216,free_space_info,65536),extent_count,null,0).
object(10,k(393216,free_space_info,65536)).
state(10,k(393216,free_space_info,65536),flags,0).
state(10,k(393216,free_space_info,65536),extent_count,0).
expect(78, 10, k(65536,free_space_info,65536)).
expect(78, 10, k(131072,free_space_info,65536)).
expect(79, 10, k(131072,free_space_info,65536)).
expect(78, 10, k(196608,free_space_info,65536)).
expect(79, 10, k(196608,free_space_info,65536)).
expect(78, 10, k(262144,free_space_info,65536)).
expect(79, 10, k(262144,free_space_info,65536)).
expect(79, 10, k(327680,free_space_info,65536)).
expect(78, 10, k(393216,free_space_info,65536)).
