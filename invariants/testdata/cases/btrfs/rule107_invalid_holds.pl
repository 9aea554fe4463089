% The rule says nothing if the superblock says that the tree is not valid.
rule(107).
object(10,k(1048576,free_space_info,20971520)).
state(10,k(1048576,free_space_info,20971520),flags,1).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),generation,9).
state(0,k(0,super_block,0),uuid_tree_generation,9).
state(0,k(0,super_block,0),f(compat_ro_flags,free_space_tree_valid),0).
state(0,k(0,super_block,0),sectorsize,4096).
change(10,k(9437184,free_space_bitmap,8388608),object,present,null).
change(10,k(9437184,free_space_bitmap,8388608),chunk,1048576,null).
change(10,k(1048576,free_space_bitmap,8384512),object,null,present).
change(10,k(1048576,free_space_bitmap,8384512),chunk,null,1048576).
object(10,k(1048576,free_space_bitmap,8384512)).
state(10,k(1048576,free_space_bitmap,8384512),chunk,1048576).
expect_none.
