% The free_space_info of a block group is removed; a block group is added without one; a
% free_space_info is added without a block group, and one with another length.
rule(76).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),generation,7).
state(0,k(0,super_block,0),uuid_tree_generation,7).
state(0,k(0,super_block,0),sectorsize,4096).
state(0,k(0,super_block,0),log_root,0).
state(0,k(0,super_block,0),f(compat_ro_flags,free_space_tree_valid),1).
change(10,k(65536,free_space_info,65536),object,present,null).
object(2,k(65536,block_group_item,65536)).
change(10,k(131072,free_space_info,65536),object,present,null).
object(11,k(131072,block_group_item,65536)).
change(2,k(196608,block_group_item,65536),object,null,present).
object(2,k(196608,block_group_item,65536)).
change(11,k(262144,block_group_item,65536),object,null,present).
object(11,k(262144,block_group_item,65536)).
change(10,k(327680,free_space_info,65536),object,null,present).
object(10,k(327680,free_space_info,65536)).
change(10,k(393216,free_space_info,32768),object,null,present).
object(10,k(393216,free_space_info,32768)).
object(2,k(393216,block_group_item,65536)).
expect(76, 10, k(65536,free_space_info,65536)).
expect(76, 10, k(131072,free_space_info,65536)).
expect(76, 2, k(196608,block_group_item,65536)).
expect(76, 11, k(262144,block_group_item,65536)).
expect(76, 10, k(327680,free_space_info,65536)).
expect(76, 10, k(393216,free_space_info,32768)).
