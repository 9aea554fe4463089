% The rfer of a subvolume grows by the extents added to its tree less those freed; others shrink,
% also below zero, by all that is removed from their tree.
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
object(1,k(258,root_item,0)).
state(1,k(258,root_item,0),refs,1).
% An extent is added, one is removed, one replaces another; a hole is added; an inode is removed.
change(256,k(257,extent_data,0),object,null,present).
change(256,k(257,extent_data,0),disk_bytenr,null,1048576).
change(256,k(257,extent_data,0),disk_num_bytes,null,8192).
object(256,k(257,extent_data,0)).
state(256,k(257,extent_data,0),disk_num_bytes,8192).
change(256,k(258,extent_data,0),object,present,null).
change(256,k(258,extent_data,0),disk_bytenr,3145728,null).
change(256,k(258,extent_data,0),disk_num_bytes,4096,null).
change(256,k(259,extent_data,0),object,present,present).
change(256,k(259,extent_data,0),disk_bytenr,1048576,2097152).
object(256,k(259,extent_data,0)).
state(256,k(259,extent_data,0),disk_num_bytes,4096).
change(256,k(260,extent_data,0),object,null,present).
change(256,k(260,extent_data,0),disk_bytenr,null,0).
change(256,k(260,extent_data,0),disk_num_bytes,null,0).
object(256,k(260,extent_data,0)).
state(256,k(260,extent_data,0),disk_num_bytes,0).
change(256,k(258,inode_item,0),object,present,null).
% Extents of other trees do not count.
change(300,k(257,extent_data,0),object,null,present).
change(300,k(257,extent_data,0),disk_bytenr,null,4194304).
change(300,k(257,extent_data,0),disk_num_bytes,null,1048576).
object(300,k(257,extent_data,0)).
state(300,k(257,extent_data,0),disk_num_bytes,1048576).
% Blocks that count: two new ones of the tree, of both kinds, and one with FULL_BACKREF. Not
% counted: a block of another tree, an old one that gets a new reference of the tree, one that gets
% FULL_BACKREF, and an extent of data.
change(2,k(30408704,metadata_item,0),object,null,present).
change(2,k(30408704,tree_block_ref,256),object,null,present).
object(2,k(30408704,metadata_item,0)).
object(2,k(30408704,tree_block_ref,256)).
change(2,k(30441472,extent_item,16384),object,null,present).
change(2,k(30441472,tree_block_ref,256),object,null,present).
object(2,k(30441472,extent_item,16384)).
object(2,k(30441472,tree_block_ref,256)).
change(2,k(30474240,metadata_item,0),object,null,present).
change(2,k(30474240,shared_block_ref,30408704),object,null,present).
object(2,k(30474240,metadata_item,0)).
object(2,k(30474240,shared_block_ref,30408704)).
change(2,k(30507008,metadata_item,0),object,null,present).
change(2,k(30507008,tree_block_ref,300),object,null,present).
object(2,k(30507008,metadata_item,0)).
object(2,k(30507008,tree_block_ref,300)).
change(2,k(30523392,tree_block_ref,256),object,null,present).
object(2,k(30523392,tree_block_ref,256)).
change(2,k(30539776,shared_block_ref,30408704),object,null,present).
object(2,k(30539776,shared_block_ref,30408704)).
change(2,k(13631488,extent_item,8192),object,null,present).
object(2,k(13631488,extent_item,8192)).
change(8,k(0,qgroup_info,256),object,present,present).
change(8,k(0,qgroup_info,256),rfer,1048576,1048576).
object(8,k(0,qgroup_info,256)).
state(8,k(0,qgroup_info,256),rfer,1048576).
% Two blocks, of both kinds, and an extent that only this tree used are freed.
change(2,k(30556160,metadata_item,1),object,present,null).
change(2,k(30556160,metadata_item,1),refs,1,null).
change(2,k(30556160,tree_block_ref,256),object,present,null).
change(2,k(30572544,extent_item,16384),object,present,null).
change(2,k(30572544,extent_item,16384),refs,1,null).
change(2,k(30572544,tree_block_ref,256),object,present,null).
change(2,k(3145728,extent_item,4096),object,present,null).
change(2,k(3145728,extent_item,4096),refs,1,null).
change(2,k(3145728,extent_data_ref,77),object,present,null).
change(2,k(3145728,extent_data_ref,77),root,256,null).
% A block and an extent that other trees used too are freed; two files used the extent, and it
% counts once. Another extent and another block stay, because other trees use them.
change(2,k(30588928,metadata_item,0),object,present,null).
change(2,k(30588928,metadata_item,0),refs,2,null).
change(2,k(30588928,tree_block_ref,256),object,present,null).
change(2,k(8388608,extent_item,8192),object,present,null).
change(2,k(8388608,extent_item,8192),refs,2,null).
change(2,k(8388608,extent_data_ref,78),object,present,null).
change(2,k(8388608,extent_data_ref,78),root,256,null).
change(2,k(8388608,extent_data_ref,76),object,present,null).
change(2,k(8388608,extent_data_ref,76),root,256,null).
change(2,k(8388608,extent_data_ref,75),object,present,null).
change(2,k(8388608,extent_data_ref,75),root,300,null).
change(2,k(30605312,tree_block_ref,256),object,present,null).
change(2,k(9437184,extent_item,8192),object,present,present).
change(2,k(9437184,extent_item,8192),refs,1,2).
object(2,k(9437184,extent_item,8192)).
change(2,k(9437184,extent_data_ref,79),object,present,null).
change(2,k(9437184,extent_data_ref,79),root,256,null).
% In the other trees an extent is removed, one is added, and one replaces another. The bound counts
% two blocks for each, and all blocks that changed.
change(257,k(257,extent_data,0),object,present,null).
change(257,k(257,extent_data,0),disk_bytenr,5242880,null).
change(257,k(257,extent_data,0),disk_num_bytes,8192,null).
change(257,k(258,extent_data,0),object,null,present).
change(257,k(258,extent_data,0),disk_bytenr,null,8388608).
change(257,k(258,extent_data,0),disk_num_bytes,null,8192).
object(257,k(258,extent_data,0)).
state(257,k(258,extent_data,0),disk_num_bytes,8192).
change(8,k(0,qgroup_info,257),object,present,present).
change(8,k(0,qgroup_info,257),rfer,4096,18446744073709367296).
object(8,k(0,qgroup_info,257)).
state(8,k(0,qgroup_info,257),rfer,18446744073709367296).
change(258,k(257,extent_data,0),object,present,present).
change(258,k(257,extent_data,0),disk_bytenr,6291456,7340032).
object(258,k(257,extent_data,0)).
state(258,k(257,extent_data,0),disk_num_bytes,4096).
change(8,k(0,qgroup_info,258),object,present,present).
change(8,k(0,qgroup_info,258),rfer,1048576,897024).
object(8,k(0,qgroup_info,258)).
state(8,k(0,qgroup_info,258),rfer,897024).
expect_none.
