% A block group is removed with its free_space_info, and another is added with one.
rule(76).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),generation,7).
state(0,k(0,super_block,0),uuid_tree_generation,7).
state(0,k(0,super_block,0),sectorsize,4096).
state(0,k(0,super_block,0),log_root,0).
state(0,k(0,super_block,0),f(compat_ro_flags,free_space_tree_valid),1).
change(10,k(65536,free_space_info,65536),object,present,null).
change(2,k(65536,block_group_item,65536),object,present,null).
change(10,k(131072,free_space_info,65536),object,null,present).
object(10,k(131072,free_space_info,65536)).
change(2,k(131072,block_group_item,65536),object,null,present).
object(2,k(131072,block_group_item,65536)).
expect_none.
