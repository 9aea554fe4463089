% A run of bits that are set begins within an extent.
rule(80).
change(10,k(65536,free_space_run,a(65536,73728)),object,null,present).
change(10,k(65536,free_space_run,a(65536,73728)),end,null,81920).
object(2,k(69632,extent_item,8192)).
object(2,k(81920,extent_item,0)).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),generation,9).
state(0,k(0,super_block,0),uuid_tree_generation,9).
state(0,k(0,super_block,0),f(compat_ro_flags,free_space_tree_valid),1).
state(0,k(0,super_block,0),sectorsize,4096).
state(0,k(0,super_block,0),nodesize,16384).
expect(80, 10, k(65536,free_space_run,a(65536,73728))).
