% A file without checksums has some in the log.
rule(103).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),sectorsize,4096).
change(-6,k(257,extent_data,0),object,null,present).
change(-6,k(257,extent_data,0),type,null,data).
change(-6,k(257,extent_data,0),disk_bytenr,null,1048576).
change(-6,k(257,extent_data,0),disk_num_bytes,null,8192).
change(-6,k(257,extent_data,0),extent_offset,null,0).
change(-6,k(257,extent_data,0),num_bytes,null,8192).
change(-6,k(257,extent_data,0),compression,null,0).
object(-6,k(257,extent_data,0)).
state(-6,k(257,extent_data,0),type,data).
state(-6,k(257,extent_data,0),disk_bytenr,1048576).
state(-6,k(257,extent_data,0),disk_num_bytes,8192).
state(-6,k(257,extent_data,0),extent_offset,0).
state(-6,k(257,extent_data,0),num_bytes,8192).
state(-6,k(257,extent_data,0),compression,0).
change(-6,k(257,inode_item,0),object,null,present).
change(-6,k(257,inode_item,0),f(flags,nodatasum),null,1).
object(-6,k(257,inode_item,0)).
state(-6,k(257,inode_item,0),f(flags,nodatasum),1).
object(-6,k(-10,extent_csum,1048576)).
state(-6,k(-10,extent_csum,1048576),nsums,2).
expect(103, -6, k(257,extent_data,0)).
