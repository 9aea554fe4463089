% Two checksum items cover the data.
rule(23).
change(5,k(257,extent_data,0),object,null,present).
object(5,k(257,extent_data,0)).
state(5,k(257,extent_data,0),type,data).
state(5,k(257,extent_data,0),disk_bytenr,65536).
state(5,k(257,extent_data,0),disk_num_bytes,16384).
state(5,k(257,extent_data,0),compression,0).
state(5,k(257,extent_data,0),extent_offset,4096).
state(5,k(257,extent_data,0),num_bytes,8192).
object(5,k(257,inode_item,0)).
state(5,k(257,inode_item,0),f(flags,nodatasum),0).

object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),sectorsize,4096).
state(0,k(0,super_block,0),log_root,0).
object(7,k(-10,extent_csum,65536)).
state(7,k(-10,extent_csum,65536),nsums,2).
object(7,k(-10,extent_csum,73728)).
state(7,k(-10,extent_csum,73728),nsums,1).
expect_none.
