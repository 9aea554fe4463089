% Two sectors are no longer free, and used grows by one sector.
rule(78).
change(2,k(65536,block_group_item,65536),used,4096,8192).
change(10,k(69632,free_space_extent,61440),object,present,null).
change(10,k(69632,free_space_extent,61440),chunk,65536,null).
change(10,k(77824,free_space_extent,53248),object,null,present).
change(10,k(77824,free_space_extent,53248),chunk,null,65536).
object(10,k(65536,free_space_info,65536)).
object(2,k(65536,block_group_item,65536)).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),generation,9).
state(0,k(0,super_block,0),uuid_tree_generation,9).
state(0,k(0,super_block,0),f(compat_ro_flags,free_space_tree_valid),1).
state(0,k(0,super_block,0),sectorsize,4096).
state(0,k(0,super_block,0),nodesize,16384).
expect(78, 10, k(65536,free_space_info,65536)).
