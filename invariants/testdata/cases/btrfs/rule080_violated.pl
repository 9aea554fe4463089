% Free space begins within an extent.
rule(80).
change(10,k(73728,free_space_extent,8192),object,null,present).
object(2,k(69632,extent_item,8192)).
object(2,k(81920,extent_item,0)).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),generation,9).
state(0,k(0,super_block,0),uuid_tree_generation,9).
state(0,k(0,super_block,0),f(compat_ro_flags,free_space_tree_valid),1).
state(0,k(0,super_block,0),sectorsize,4096).
expect(80, 10, k(73728,free_space_extent,8192)).
