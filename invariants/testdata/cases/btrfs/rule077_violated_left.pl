% A free_space_info is removed, and the free space of its block group stays.
rule(77).
change(10,k(65536,free_space_info,65536),object,present,null).
object(10,k(73728,free_space_extent,57344)).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),generation,9).
state(0,k(0,super_block,0),uuid_tree_generation,9).
state(0,k(0,super_block,0),f(compat_ro_flags,free_space_tree_valid),1).
state(0,k(0,super_block,0),sectorsize,4096).
state(0,k(0,super_block,0),nodesize,16384).
expect(77, 10, k(73728,free_space_extent,57344)).
