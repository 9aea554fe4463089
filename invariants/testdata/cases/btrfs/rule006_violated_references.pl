% Between two extents that overlap are the references to the first of them and the item of their
% block group, which begins with the first.
rule(6).
change(2,k(81920,extent_item,4096),object,null,present).
object(2,k(81920,extent_item,4096)).
object(2,k(65536,extent_item,20480)).
object(2,k(65536,extent_data_ref,7)).
object(2,k(65536,extent_data_ref,9)).
object(2,k(65536,block_group_item,1048576)).
expect(6, 2, k(81920,extent_item,4096)).
