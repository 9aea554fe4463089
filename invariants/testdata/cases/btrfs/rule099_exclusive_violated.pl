% The excl of a subvolume changes by a sector more than the bound.
rule(99).
object(8,k(0,qgroup_status,0)).
state(8,k(0,qgroup_status,0),flags,1).
state(8,k(0,qgroup_status,0),f(flags,on),1).
state(8,k(0,qgroup_status,0),f(flags,rescan),0).
state(8,k(0,qgroup_status,0),f(flags,inconsistent),0).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),nodesize,16384).
object(1,k(256,root_item,0)).
state(1,k(256,root_item,0),refs,1).
% Two trees change an extent each: this counts the extents, two blocks for each changed object, and
% a block of a tree.
change(256,k(257,extent_data,0),object,null,present).
change(256,k(257,extent_data,0),disk_bytenr,null,1048576).
change(256,k(257,extent_data,0),disk_num_bytes,null,8192).
object(256,k(257,extent_data,0)).
state(256,k(257,extent_data,0),disk_num_bytes,8192).
change(5,k(257,extent_data,0),object,present,null).
change(5,k(257,extent_data,0),disk_bytenr,2097152,null).
change(5,k(257,extent_data,0),disk_num_bytes,4096,null).
% Other trees do not count: checksums, and the file of a space cache.
change(1,k(300,extent_data,0),object,null,present).
change(1,k(300,extent_data,0),disk_bytenr,null,3145728).
change(1,k(300,extent_data,0),disk_num_bytes,null,65536).
object(1,k(300,extent_data,0)).
state(1,k(300,extent_data,0),disk_num_bytes,65536).
change(7,k(-10,extent_csum,1048576),object,null,present).
object(7,k(-10,extent_csum,1048576)).
change(2,k(30408704,metadata_item,0),object,null,present).
object(2,k(30408704,metadata_item,0)).
change(8,k(0,qgroup_info,256),object,present,present).
change(8,k(0,qgroup_info,256),excl,1048576,1146880).
object(8,k(0,qgroup_info,256)).
state(8,k(0,qgroup_info,256),excl,1146880).
expect(99, 8, k(0,qgroup_info,256)).
