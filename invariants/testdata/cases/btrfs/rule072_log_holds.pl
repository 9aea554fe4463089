% A log that adds the extent waits to be replayed.
rule(72).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),generation,7).
state(0,k(0,super_block,0),uuid_tree_generation,7).
state(0,k(0,super_block,0),sectorsize,4096).
state(0,k(0,super_block,0),log_root,65536).
state(0,k(0,super_block,0),f(compat_ro_flags,free_space_tree_valid),1).
change(7,k(-10,extent_csum,200704),object,null,present).
change(7,k(-10,extent_csum,200704),nsums,null,1).
object(7,k(-10,extent_csum,200704)).
state(7,k(-10,extent_csum,200704),nsums,1).
expect_none.
