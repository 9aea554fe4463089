% The free space tree says that the space of a new metadata block is free.
rule(81).
change(2,k(65536,metadata_item,0),object,null,present).
object(-1,k(65536,free_space,16384)).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),generation,9).
state(0,k(0,super_block,0),uuid_tree_generation,9).
state(0,k(0,super_block,0),f(compat_ro_flags,free_space_tree_valid),1).
state(0,k(0,super_block,0),sectorsize,4096).
state(0,k(0,super_block,0),nodesize,16384).
expect(81, 2, k(65536,metadata_item,0)).
