% A new extent begins where the one before it ends, with that one's back reference between them;
% the next begins where it ends.
rule(6).
object(2,k(16384,extent_item,4096)).
object(2,k(16384,shared_data_ref,99)).
change(2,k(20480,extent_item,4096),object,null,present).
change(2,k(20480,extent_item,4096),refs,null,1).
object(2,k(20480,extent_item,4096)).
state(2,k(20480,extent_item,4096),refs,1).
object(2,k(24576,extent_item,4096)).

% A new block group begins with an extent that was added with it.
object(2,k(1048576,extent_item,8192)).
change(2,k(1048576,block_group_item,8388608),object,null,present).
change(2,k(1048576,block_group_item,8388608),used,null,8192).
object(2,k(1048576,block_group_item,8388608)).
state(2,k(1048576,block_group_item,8388608),used,8192).

% Metadata blocks of 16 KiB, one directly after the other. In the order of keys, the block group of
% the first stands between them.
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),nodesize,16384).
change(2,k(16777216,metadata_item,0),object,null,present).
change(2,k(16777216,metadata_item,0),refs,null,1).
object(2,k(16777216,metadata_item,0)).
state(2,k(16777216,metadata_item,0),refs,1).
object(2,k(16777216,block_group_item,8388608)).
change(2,k(16793600,metadata_item,1),object,null,present).
change(2,k(16793600,metadata_item,1),refs,null,1).
object(2,k(16793600,metadata_item,1)).
state(2,k(16793600,metadata_item,1),refs,1).
expect_none.
