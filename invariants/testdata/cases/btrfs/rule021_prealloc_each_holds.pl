% What is allocated and not written has no checksum; what lies before and behind it in the extent
% has.
rule(21).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),generation,9).
state(0,k(0,super_block,0),uuid_tree_generation,9).
state(0,k(0,super_block,0),f(compat_ro_flags,free_space_tree_valid),1).
state(0,k(0,super_block,0),sectorsize,4096).
state(0,k(0,super_block,0),nodesize,16384).
change(2,k(65536,extent_item,16384),object,null,present).
change(2,k(65536,extent_item,16384),refs,null,1).
object(2,k(65536,extent_item,16384)).
state(2,k(65536,extent_item,16384),refs,1).
object(2,k(65536,extent_data_ref,99)).
change(5,k(257,extent_data,0),object,null,present).
change(5,k(257,extent_data,0),type,null,prealloc).
object(5,k(257,extent_data,0)).
state(5,k(257,extent_data,0),type,prealloc).
state(5,k(257,extent_data,0),disk_bytenr,65536).
state(5,k(257,extent_data,0),disk_num_bytes,16384).
state(5,k(257,extent_data,0),compression,0).
state(5,k(257,extent_data,0),extent_offset,4096).
state(5,k(257,extent_data,0),num_bytes,8192).
state(5,k(257,extent_data,0),backref,k(65536,extent_data_ref,99)).
object(7,k(-10,extent_csum,65536)).
state(7,k(-10,extent_csum,65536),nsums,1).
object(7,k(-10,extent_csum,77824)).
state(7,k(-10,extent_csum,77824),nsums,1).

% The extent is used by a leaf as well, of which another file may have written it.
change(2,k(131072,extent_item,16384),object,null,present).
change(2,k(131072,extent_item,16384),refs,null,2).
object(2,k(131072,extent_item,16384)).
state(2,k(131072,extent_item,16384),refs,2).
object(2,k(131072,extent_data_ref,99)).
object(2,k(131072,shared_data_ref,32768)).
change(5,k(258,extent_data,0),object,null,present).
change(5,k(258,extent_data,0),type,null,prealloc).
object(5,k(258,extent_data,0)).
state(5,k(258,extent_data,0),type,prealloc).
state(5,k(258,extent_data,0),disk_bytenr,131072).
state(5,k(258,extent_data,0),disk_num_bytes,16384).
state(5,k(258,extent_data,0),compression,0).
state(5,k(258,extent_data,0),extent_offset,4096).
state(5,k(258,extent_data,0),num_bytes,8192).
state(5,k(258,extent_data,0),backref,k(131072,extent_data_ref,99)).
object(7,k(-10,extent_csum,135168)).
state(7,k(-10,extent_csum,135168),nsums,1).

% Of the log, nothing is said.
object(2,k(196608,extent_item,16384)).
object(2,k(196608,extent_data_ref,99)).
change(-6,k(259,extent_data,0),object,present,present).
change(-6,k(259,extent_data,0),type,data,prealloc).
object(-6,k(259,extent_data,0)).
state(-6,k(259,extent_data,0),type,prealloc).
state(-6,k(259,extent_data,0),disk_bytenr,196608).
state(-6,k(259,extent_data,0),disk_num_bytes,16384).
state(-6,k(259,extent_data,0),compression,0).
state(-6,k(259,extent_data,0),extent_offset,4096).
state(-6,k(259,extent_data,0),num_bytes,8192).
state(-6,k(259,extent_data,0),backref,k(196608,extent_data_ref,99)).
object(7,k(-10,extent_csum,200704)).
state(7,k(-10,extent_csum,200704),nsums,1).
expect_none.
