% A block group and its free_space_info are added.
rule(76).
change(10,k(65536,free_space_info,65536),object,null,present).
object(10,k(65536,free_space_info,65536)).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),generation,9).
state(0,k(0,super_block,0),uuid_tree_generation,9).
state(0,k(0,super_block,0),f(compat_ro_flags,free_space_tree_valid),1).
state(0,k(0,super_block,0),sectorsize,4096).
object(2,k(65536,block_group_item,65536)).
expect_none.
