% A new block group of 16 sectors, one of them used, has 14 free ones.
rule(78).
change(2,k(65536,block_group_item,65536),object,null,present).
change(2,k(65536,block_group_item,65536),used,null,4096).
state(2,k(65536,block_group_item,65536),used,4096).
change(10,k(65536,free_space_info,65536),object,null,present).
change(10,k(73728,free_space_extent,57344),object,null,present).
change(10,k(73728,free_space_extent,57344),chunk,null,65536).
object(10,k(65536,free_space_info,65536)).
object(2,k(65536,block_group_item,65536)).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),generation,9).
state(0,k(0,super_block,0),uuid_tree_generation,9).
state(0,k(0,super_block,0),f(compat_ro_flags,free_space_tree_valid),1).
state(0,k(0,super_block,0),sectorsize,4096).
state(0,k(0,super_block,0),nodesize,16384).
expect(78, 10, k(65536,free_space_info,65536)).
