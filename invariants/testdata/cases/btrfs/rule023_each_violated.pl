% A file loses the flag nodatasum, and its written data has no checksums.
rule(23).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),generation,7).
state(0,k(0,super_block,0),uuid_tree_generation,7).
state(0,k(0,super_block,0),sectorsize,4096).
state(0,k(0,super_block,0),log_root,0).
state(0,k(0,super_block,0),f(compat_ro_flags,free_space_tree_valid),1).
change(5,k(257,inode_item,0),object,present,present).
change(5,k(257,inode_item,0),f(flags,nodatasum),1,0).
object(5,k(257,inode_item,0)).
state(5,k(257,inode_item,0),f(flags,nodatasum),0).
object(5,k(257,extent_data,0)).
state(5,k(257,extent_data,0),type,data).
state(5,k(257,extent_data,0),disk_bytenr,65536).
state(5,k(257,extent_data,0),disk_num_bytes,4096).
state(5,k(257,extent_data,0),compression,0).
state(5,k(257,extent_data,0),extent_offset,0).
state(5,k(257,extent_data,0),num_bytes,4096).
expect(23, 5, k(257,extent_data,0)).

% A compressed extent has checksums only for the part that the file uses.
object(5,k(258,inode_item,0)).
state(5,k(258,inode_item,0),f(flags,nodatasum),0).
change(5,k(258,extent_data,0),object,null,present).
change(5,k(258,extent_data,0),type,null,data).
change(5,k(258,extent_data,0),disk_bytenr,null,131072).
change(5,k(258,extent_data,0),disk_num_bytes,null,8192).
change(5,k(258,extent_data,0),compression,null,1).
change(5,k(258,extent_data,0),extent_offset,null,0).
change(5,k(258,extent_data,0),num_bytes,null,4096).
object(5,k(258,extent_data,0)).
state(5,k(258,extent_data,0),type,data).
state(5,k(258,extent_data,0),disk_bytenr,131072).
state(5,k(258,extent_data,0),disk_num_bytes,8192).
state(5,k(258,extent_data,0),compression,1).
state(5,k(258,extent_data,0),extent_offset,0).
state(5,k(258,extent_data,0),num_bytes,4096).
object(7,k(-10,extent_csum,131072)).
state(7,k(-10,extent_csum,131072),nsums,1).
expect(23, 5, k(258,extent_data,0)).
