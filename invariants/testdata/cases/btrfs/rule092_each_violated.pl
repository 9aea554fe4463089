% The first of four sectors has no checksum, and in another extent the third.
rule(92).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),sectorsize,4096).
change(-6,k(257,extent_data,0),object,null,present).
change(-6,k(257,extent_data,0),type,null,data).
change(-6,k(257,extent_data,0),disk_bytenr,null,1048576).
change(-6,k(257,extent_data,0),disk_num_bytes,null,16384).
change(-6,k(257,extent_data,0),extent_offset,null,0).
change(-6,k(257,extent_data,0),num_bytes,null,16384).
change(-6,k(257,extent_data,0),compression,null,0).
object(-6,k(257,extent_data,0)).
state(-6,k(257,extent_data,0),type,data).
state(-6,k(257,extent_data,0),disk_bytenr,1048576).
state(-6,k(257,extent_data,0),disk_num_bytes,16384).
state(-6,k(257,extent_data,0),extent_offset,0).
state(-6,k(257,extent_data,0),num_bytes,16384).
state(-6,k(257,extent_data,0),compression,0).
object(-6,k(257,inode_item,0)).
state(-6,k(257,inode_item,0),f(flags,nodatasum),0).
object(-6,k(-10,extent_csum,1052672)).
state(-6,k(-10,extent_csum,1052672),nsums,3).
change(-6,k(258,extent_data,0),object,null,present).
change(-6,k(258,extent_data,0),type,null,data).
change(-6,k(258,extent_data,0),disk_bytenr,null,2097152).
change(-6,k(258,extent_data,0),disk_num_bytes,null,16384).
change(-6,k(258,extent_data,0),extent_offset,null,0).
change(-6,k(258,extent_data,0),num_bytes,null,16384).
change(-6,k(258,extent_data,0),compression,null,0).
object(-6,k(258,extent_data,0)).
state(-6,k(258,extent_data,0),type,data).
state(-6,k(258,extent_data,0),disk_bytenr,2097152).
state(-6,k(258,extent_data,0),disk_num_bytes,16384).
state(-6,k(258,extent_data,0),extent_offset,0).
state(-6,k(258,extent_data,0),num_bytes,16384).
state(-6,k(258,extent_data,0),compression,0).
object(-6,k(258,inode_item,0)).
state(-6,k(258,inode_item,0),f(flags,nodatasum),0).
object(-6,k(-10,extent_csum,2097152)).
state(-6,k(-10,extent_csum,2097152),nsums,2).
object(-6,k(-10,extent_csum,2109440)).
state(-6,k(-10,extent_csum,2109440),nsums,1).
expect(92, -6, k(257,extent_data,0)).
expect(92, -6, k(258,extent_data,0)).

% A compressed extent has checksums only for the part that the file uses.
change(-6,k(259,extent_data,0),object,null,present).
change(-6,k(259,extent_data,0),type,null,data).
change(-6,k(259,extent_data,0),disk_bytenr,null,3145728).
change(-6,k(259,extent_data,0),disk_num_bytes,null,8192).
change(-6,k(259,extent_data,0),extent_offset,null,0).
change(-6,k(259,extent_data,0),num_bytes,null,4096).
change(-6,k(259,extent_data,0),compression,null,1).
object(-6,k(259,extent_data,0)).
state(-6,k(259,extent_data,0),type,data).
state(-6,k(259,extent_data,0),disk_bytenr,3145728).
state(-6,k(259,extent_data,0),disk_num_bytes,8192).
state(-6,k(259,extent_data,0),extent_offset,0).
state(-6,k(259,extent_data,0),num_bytes,4096).
state(-6,k(259,extent_data,0),compression,1).
object(-6,k(259,inode_item,0)).
state(-6,k(259,inode_item,0),f(flags,nodatasum),0).
object(-6,k(-10,extent_csum,3145728)).
state(-6,k(-10,extent_csum,3145728),nsums,1).
expect(92, -6, k(259,extent_data,0)).
