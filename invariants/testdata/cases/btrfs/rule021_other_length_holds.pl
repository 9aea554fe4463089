% The extent of the file extent is missing: one of another length begins there, which another rule
% reports. It says nothing about the uses of this one.
rule(21).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),generation,9).
state(0,k(0,super_block,0),sectorsize,4096).
state(0,k(0,super_block,0),uuid_tree_generation,9).
object(2,k(65536,extent_data_ref,99)).
state(2,k(65536,extent_data_ref,99),count,1).
object(2,k(65536,extent_item,16384)).
state(2,k(65536,extent_item,16384),refs,1).
object(5,k(257,extent_data,0)).
state(5,k(257,extent_data,0),backref,k(65536,extent_data_ref,99)).
state(5,k(257,extent_data,0),compression,0).
state(5,k(257,extent_data,0),disk_bytenr,65536).
state(5,k(257,extent_data,0),disk_num_bytes,12288).
state(5,k(257,extent_data,0),extent_offset,4096).
state(5,k(257,extent_data,0),num_bytes,8192).
state(5,k(257,extent_data,0),type,prealloc).
change(5,k(257,extent_data,0),object,present,present).
change(5,k(257,extent_data,0),disk_num_bytes,16384,12288).
change(5,k(257,extent_data,0),type,data,prealloc).
object(7,k(-10,extent_csum,73728)).
state(7,k(-10,extent_csum,73728),nsums,1).
expect_none.
