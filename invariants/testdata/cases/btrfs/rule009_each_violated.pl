% An extent is freed and each kind of back reference remains; or one of each kind is added, and refs
% does not change.
rule(9).
change(2,k(65536,extent_data_ref,99),object,null,present).
change(2,k(65536,extent_data_ref,99),count,null,1).
object(2,k(65536,extent_data_ref,99)).
state(2,k(65536,extent_data_ref,99),count,1).
change(2,k(131072,extent_data_ref,99),object,present,null).
change(2,k(131072,extent_data_ref,99),count,1,null).
change(2,k(196608,shared_data_ref,32768),object,null,present).
change(2,k(196608,shared_data_ref,32768),count,null,1).
object(2,k(196608,shared_data_ref,32768)).
state(2,k(196608,shared_data_ref,32768),count,1).
change(2,k(262144,shared_data_ref,32768),object,present,null).
change(2,k(262144,shared_data_ref,32768),count,1,null).
change(2,k(327680,tree_block_ref,5),object,null,present).
object(2,k(327680,tree_block_ref,5)).
change(2,k(393216,tree_block_ref,5),object,present,null).
change(2,k(458752,shared_block_ref,32768),object,null,present).
object(2,k(458752,shared_block_ref,32768)).
change(2,k(524288,shared_block_ref,32768),object,present,null).
expect(9, 2, k(65536,extent_data_ref,99)).
expect(9, 2, k(131072,extent_data_ref,99)).
expect(9, 2, k(196608,shared_data_ref,32768)).
expect(9, 2, k(262144,shared_data_ref,32768)).
expect(9, 2, k(327680,tree_block_ref,5)).
expect(9, 2, k(393216,tree_block_ref,5)).
expect(9, 2, k(458752,shared_block_ref,32768)).
expect(9, 2, k(524288,shared_block_ref,32768)).

% Only refs changes, of a data extent and of a block. The block group that begins at the first
% extent is written too.
change(2,k(1048576,extent_item,4096),object,present,present).
change(2,k(1048576,extent_item,4096),refs,1,2).
object(2,k(1048576,extent_item,4096)).
state(2,k(1048576,extent_item,4096),refs,2).
change(2,k(1048576,block_group_item,8388608),object,present,present).
change(2,k(1048576,block_group_item,8388608),used,0,4096).
object(2,k(1048576,block_group_item,8388608)).
state(2,k(1048576,block_group_item,8388608),used,4096).
change(2,k(2097152,metadata_item,0),object,present,present).
change(2,k(2097152,metadata_item,0),refs,2,1).
object(2,k(2097152,metadata_item,0)).
state(2,k(2097152,metadata_item,0),refs,1).
expect(9, 2, k(1048576,extent_item,4096)).
expect(9, 2, k(2097152,metadata_item,0)).
