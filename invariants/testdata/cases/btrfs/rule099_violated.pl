% A subvolume uses a sector more than its tree can account for, another, below zero, a sector less.
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
object(1,k(257,root_item,0)).
state(1,k(257,root_item,0),refs,1).
% An extent comes, one goes, one takes the place of another; an inode goes. Each is two blocks besides.
change(256,k(257,extent_data,0),object,null,present).
change(256,k(257,extent_data,0),disk_num_bytes,null,8192).
object(256,k(257,extent_data,0)).
state(256,k(257,extent_data,0),disk_num_bytes,8192).
change(256,k(258,extent_data,0),object,present,null).
change(256,k(258,extent_data,0),disk_num_bytes,4096,null).
change(256,k(259,extent_data,0),object,present,present).
change(256,k(259,extent_data,0),disk_bytenr,1048576,2097152).
object(256,k(259,extent_data,0)).
state(256,k(259,extent_data,0),disk_num_bytes,4096).
change(256,k(258,inode_item,0),object,present,null).
% Extents of another tree do not count.
change(300,k(257,extent_data,0),object,null,present).
change(300,k(257,extent_data,0),disk_num_bytes,null,1048576).
object(300,k(257,extent_data,0)).
state(300,k(257,extent_data,0),disk_num_bytes,1048576).
% Four blocks, of both kinds, and an extent of data.
change(2,k(30408704,metadata_item,0),object,null,present).
object(2,k(30408704,metadata_item,0)).
change(2,k(30425088,metadata_item,0),object,present,null).
change(2,k(30457856,metadata_item,1),object,present,null).
change(2,k(30441472,extent_item,16384),object,present,null).
change(2,k(30441472,extent_item,16384),refs,1,null).
change(2,k(13631488,extent_item,8192),object,null,present).
object(2,k(13631488,extent_item,8192)).
change(8,k(0,qgroup_info,256),object,present,present).
change(8,k(0,qgroup_info,256),rfer,1048576,1265664).
object(8,k(0,qgroup_info,256)).
state(8,k(0,qgroup_info,256),rfer,1265664).
change(257,k(257,extent_data,0),object,present,null).
change(257,k(257,extent_data,0),disk_num_bytes,8192,null).
change(8,k(0,qgroup_info,257),object,present,present).
change(8,k(0,qgroup_info,257),rfer,4096,18446744073709445120).
object(8,k(0,qgroup_info,257)).
state(8,k(0,qgroup_info,257),rfer,18446744073709445120).
expect(99, 8, k(0,qgroup_info,256)).
expect(99, 8, k(0,qgroup_info,257)).
