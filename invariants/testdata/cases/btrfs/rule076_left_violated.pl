% A block group is removed, and its free_space_info stays.
rule(76).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),generation,9).
state(0,k(0,super_block,0),uuid_tree_generation,9).
state(0,k(0,super_block,0),f(compat_ro_flags,free_space_tree_valid),1).
state(0,k(0,super_block,0),sectorsize,4096).
state(0,k(0,super_block,0),nodesize,16384).
change(2,k(65536,block_group_item,65536),object,present,null).
change(2,k(65536,block_group_item,65536),used,0,null).
object(10,k(65536,free_space_info,65536)).
state(10,k(65536,free_space_info,65536),flags,0).
state(10,k(65536,free_space_info,65536),extent_count,1).

% Another block group is removed with its free_space_info, and one of another length is added in its
% place.
change(2,k(131072,block_group_item,32768),object,present,null).
change(2,k(131072,block_group_item,32768),used,0,null).
change(10,k(131072,free_space_info,32768),object,present,null).
change(10,k(131072,free_space_info,32768),flags,0,null).
change(10,k(131072,free_space_info,32768),extent_count,1,null).
change(2,k(131072,block_group_item,65536),object,null,present).
change(2,k(131072,block_group_item,65536),used,null,0).
object(2,k(131072,block_group_item,65536)).
state(2,k(131072,block_group_item,65536),used,0).
change(10,k(131072,free_space_info,65536),object,null,present).
change(10,k(131072,free_space_info,65536),flags,null,0).
change(10,k(131072,free_space_info,65536),extent_count,null,1).
object(10,k(131072,free_space_info,65536)).
state(10,k(131072,free_space_info,65536),flags,0).
state(10,k(131072,free_space_info,65536),extent_count,1).
expect(76, 10, k(65536,free_space_info,65536)).
