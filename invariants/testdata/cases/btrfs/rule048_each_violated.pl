% An extent is added to a block group, another is removed from another group, and their used does
% not change.
rule(48).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),nodesize,16384).
change(2,k(65536,extent_item,8192),object,null,present).
change(2,k(65536,extent_item,8192),chunk,null,65536).
object(2,k(65536,extent_item,8192)).
state(2,k(65536,extent_item,8192),chunk,65536).
change(2,k(131072,metadata_item,0),object,present,null).
change(2,k(131072,metadata_item,0),chunk,131072,null).
expect(48, 3, k(256,chunk_item,65536)).
expect(48, 3, k(256,chunk_item,131072)).

% Only used changes, in the block group tree.
change(11,k(196608,block_group_item,65536),object,present,present).
change(11,k(196608,block_group_item,65536),used,0,4096).
object(11,k(196608,block_group_item,65536)).
state(11,k(196608,block_group_item,65536),used,4096).
expect(48, 11, k(196608,block_group_item,65536)).
