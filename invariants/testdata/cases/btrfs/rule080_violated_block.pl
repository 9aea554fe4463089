% Free space begins within a metadata block of 16 KiB.
rule(80).
change(10,k(77824,free_space_extent,8192),object,null,present).
object(2,k(65536,metadata_item,1)).
object(2,k(86016,extent_item,0)).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),generation,9).
state(0,k(0,super_block,0),uuid_tree_generation,9).
state(0,k(0,super_block,0),f(compat_ro_flags,free_space_tree_valid),1).
state(0,k(0,super_block,0),sectorsize,4096).
state(0,k(0,super_block,0),nodesize,16384).
expect(80, 10, k(77824,free_space_extent,8192)).
