% An extent is added where nothing is free; the space behind it is free.
rule(81).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),generation,9).
state(0,k(0,super_block,0),uuid_tree_generation,9).
state(0,k(0,super_block,0),f(compat_ro_flags,free_space_tree_valid),1).
state(0,k(0,super_block,0),sectorsize,4096).
state(0,k(0,super_block,0),nodesize,16384).
change(2,k(65536,extent_item,8192),object,null,present).
change(2,k(65536,extent_item,8192),refs,null,1).
object(2,k(65536,extent_item,8192)).
state(2,k(65536,extent_item,8192),refs,1).
object(-1,k(65536,free_space,16384)).
expect_none.
