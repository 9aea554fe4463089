% A new extent begins within the one before it, and ends before the next.
rule(6).
change(2,k(20480,extent_item,4096),object,null,present).
change(2,k(20480,extent_item,4096),refs,null,1).
object(2,k(20480,extent_item,4096)).
state(2,k(20480,extent_item,4096),refs,1).
object(2,k(16384,extent_item,8192)).
object(2,k(32768,extent_item,4096)).
expect(6, 2, k(20480,extent_item,4096)).

% A new metadata block, of 16 KiB, begins within another.
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),nodesize,16384).
object(2,k(131072,metadata_item,0)).
change(2,k(143360,metadata_item,0),object,null,present).
change(2,k(143360,metadata_item,0),refs,null,1).
object(2,k(143360,metadata_item,0)).
state(2,k(143360,metadata_item,0),refs,1).
expect(6, 2, k(143360,metadata_item,0)).

% A new metadata block reaches into an extent.
change(2,k(262144,metadata_item,0),object,null,present).
change(2,k(262144,metadata_item,0),refs,null,1).
object(2,k(262144,metadata_item,0)).
state(2,k(262144,metadata_item,0),refs,1).
object(2,k(274432,extent_item,4096)).
expect(6, 2, k(262144,metadata_item,0)).
