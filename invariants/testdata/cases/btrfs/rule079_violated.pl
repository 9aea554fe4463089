% One more extent of free space is counted as two.
rule(79).
change(10,k(65536,free_space_info,65536),extent_count,1,3).
change(10,k(69632,free_space_extent,4096),object,null,present).
change(10,k(69632,free_space_extent,4096),chunk,null,65536).
object(10,k(65536,free_space_info,65536)).
state(10,k(65536,free_space_info,65536),flags,0).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),generation,9).
state(0,k(0,super_block,0),uuid_tree_generation,9).
state(0,k(0,super_block,0),f(compat_ro_flags,free_space_tree_valid),1).
state(0,k(0,super_block,0),sectorsize,4096).
expect(79, 10, k(65536,free_space_info,65536)).
