% An extent is removed and one of the same length is added: used does not change.
rule(48).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),nodesize,16384).
change(2,k(65536,extent_item,8192),object,null,present).
change(2,k(65536,extent_item,8192),chunk,null,65536).
object(2,k(65536,extent_item,8192)).
state(2,k(65536,extent_item,8192),chunk,65536).
change(2,k(73728,extent_item,8192),object,present,null).
change(2,k(73728,extent_item,8192),chunk,65536,null).

% A metadata block is removed.
change(2,k(131072,metadata_item,0),object,present,null).
change(2,k(131072,metadata_item,0),chunk,131072,null).
change(11,k(131072,block_group_item,65536),object,present,present).
change(11,k(131072,block_group_item,65536),used,32768,16384).
object(11,k(131072,block_group_item,65536)).
state(11,k(131072,block_group_item,65536),used,16384).
expect_none.
