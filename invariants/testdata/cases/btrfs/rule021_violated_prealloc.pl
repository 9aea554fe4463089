% Preallocated space has a checksum.
rule(21).
change(5,k(257,extent_data,0),object,null,present).
change(5,k(257,extent_data,0),type,null,prealloc).
change(2,k(65536,extent_item,16384),object,null,present).
object(5,k(257,extent_data,0)).
state(5,k(257,extent_data,0),type,prealloc).
state(5,k(257,extent_data,0),disk_bytenr,65536).
state(5,k(257,extent_data,0),disk_num_bytes,16384).
state(5,k(257,extent_data,0),compression,0).
state(5,k(257,extent_data,0),extent_offset,4096).
state(5,k(257,extent_data,0),num_bytes,8192).
state(5,k(257,extent_data,0),backref,k(65536,extent_data_ref,99)).
object(2,k(65536,extent_item,16384)).
state(2,k(65536,extent_item,16384),refs,1).
object(2,k(65536,extent_data_ref,99)).
state(2,k(65536,extent_data_ref,99),count,1).
object(7,k(-10,extent_csum,73728)).
state(7,k(-10,extent_csum,73728),nsums,1).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),generation,9).
state(0,k(0,super_block,0),uuid_tree_generation,9).
state(0,k(0,super_block,0),sectorsize,4096).
expect(21, 5, k(257,extent_data,0)).
