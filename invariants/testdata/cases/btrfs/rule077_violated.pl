% Free space reaches a sector beyond its block group.
rule(77).
change(10,k(73728,free_space_extent,61440),object,null,present).
change(10,k(73728,free_space_extent,61440),chunk,null,65536).
object(10,k(73728,free_space_extent,61440)).
state(10,k(73728,free_space_extent,61440),chunk,65536).
object(10,k(65536,free_space_info,65536)).
state(10,k(65536,free_space_info,65536),flags,0).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),generation,9).
state(0,k(0,super_block,0),uuid_tree_generation,9).
state(0,k(0,super_block,0),f(compat_ro_flags,free_space_tree_valid),1).
state(0,k(0,super_block,0),sectorsize,4096).
expect(77, 10, k(73728,free_space_extent,61440)).
