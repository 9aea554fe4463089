% A file with checksums gets the flag nodatasum (chattr +C works only on empty files).
rule(21).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),sectorsize,4096).
change(5,k(257,inode_item,0),object,present,present).
change(5,k(257,inode_item,0),f(flags,nodatasum),0,1).
object(5,k(257,inode_item,0)).
state(5,k(257,inode_item,0),f(flags,nodatasum),1).
object(5,k(257,extent_data,0)).
state(5,k(257,extent_data,0),type,data).
state(5,k(257,extent_data,0),disk_bytenr,65536).
state(5,k(257,extent_data,0),disk_num_bytes,8192).
state(5,k(257,extent_data,0),compression,0).
state(5,k(257,extent_data,0),extent_offset,0).
state(5,k(257,extent_data,0),num_bytes,8192).
object(7,k(-10,extent_csum,69632)).
state(7,k(-10,extent_csum,69632),nsums,1).
expect(21, 5, k(257,extent_data,0)).

% The file uses a part of a compressed extent, which is read as a whole.
object(5,k(258,inode_item,0)).
state(5,k(258,inode_item,0),f(flags,nodatasum),1).
change(5,k(258,extent_data,0),object,null,present).
change(5,k(258,extent_data,0),type,null,data).
change(5,k(258,extent_data,0),disk_bytenr,null,131072).
change(5,k(258,extent_data,0),disk_num_bytes,null,8192).
change(5,k(258,extent_data,0),compression,null,1).
change(5,k(258,extent_data,0),extent_offset,null,65536).
change(5,k(258,extent_data,0),num_bytes,null,4096).
object(5,k(258,extent_data,0)).
state(5,k(258,extent_data,0),type,data).
state(5,k(258,extent_data,0),disk_bytenr,131072).
state(5,k(258,extent_data,0),disk_num_bytes,8192).
state(5,k(258,extent_data,0),compression,1).
state(5,k(258,extent_data,0),extent_offset,65536).
state(5,k(258,extent_data,0),num_bytes,4096).
object(7,k(-10,extent_csum,135168)).
state(7,k(-10,extent_csum,135168),nsums,1).
expect(21, 5, k(258,extent_data,0)).
