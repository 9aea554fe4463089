% A chunk and its block group are added, and others are removed.
rule(41).
change(3,k(256,chunk_item,65536),object,null,present).
change(3,k(256,chunk_item,65536),length,null,8192).
change(3,k(256,chunk_item,65536),type,null,1).
change(3,k(256,chunk_item,65536),num_stripes,null,1).
change(3,k(256,chunk_item,65536),sub_stripes,null,1).
object(3,k(256,chunk_item,65536)).
state(3,k(256,chunk_item,65536),length,8192).
state(3,k(256,chunk_item,65536),type,1).
state(3,k(256,chunk_item,65536),num_stripes,1).
state(3,k(256,chunk_item,65536),sub_stripes,1).
change(2,k(65536,block_group_item,8192),object,null,present).
change(2,k(65536,block_group_item,8192),flags,null,1).
object(2,k(65536,block_group_item,8192)).
state(2,k(65536,block_group_item,8192),flags,1).
change(3,k(256,chunk_item,131072),object,present,null).
change(3,k(256,chunk_item,131072),length,8192,null).
change(3,k(256,chunk_item,131072),type,4,null).
change(3,k(256,chunk_item,131072),num_stripes,1,null).
change(3,k(256,chunk_item,131072),sub_stripes,1,null).
change(2,k(131072,block_group_item,8192),object,present,null).
change(2,k(131072,block_group_item,8192),flags,4,null).

% A block group moves into the block group tree.
object(3,k(256,chunk_item,196608)).
state(3,k(256,chunk_item,196608),length,8192).
state(3,k(256,chunk_item,196608),type,1).
state(3,k(256,chunk_item,196608),num_stripes,1).
state(3,k(256,chunk_item,196608),sub_stripes,1).
change(2,k(196608,block_group_item,8192),object,present,null).
change(2,k(196608,block_group_item,8192),flags,1,null).
change(11,k(196608,block_group_item,8192),object,null,present).
change(11,k(196608,block_group_item,8192),flags,null,1).
object(11,k(196608,block_group_item,8192)).
state(11,k(196608,block_group_item,8192),flags,1).

% A block group is written. Its length differs from that of the chunk that was removed from its
% place.
change(3,k(256,chunk_item,262144),object,present,null).
change(3,k(256,chunk_item,262144),length,4096,null).
change(3,k(256,chunk_item,262144),type,1,null).
change(3,k(256,chunk_item,262144),num_stripes,1,null).
change(3,k(256,chunk_item,262144),sub_stripes,1,null).
object(3,k(256,chunk_item,262144)).
state(3,k(256,chunk_item,262144),length,8192).
state(3,k(256,chunk_item,262144),type,1).
state(3,k(256,chunk_item,262144),num_stripes,1).
state(3,k(256,chunk_item,262144),sub_stripes,1).
object(2,k(262144,block_group_item,8192)).
state(2,k(262144,block_group_item,8192),flags,1).
expect_none.
