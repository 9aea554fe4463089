% A block gets a reference of a node that points to it; the root of a relocation tree names
% itself.
rule(8).
change(2,k(65536,shared_block_ref,131072),object,null,present).
change(2,k(65536,shared_block_ref,131072),parent,null,131072).
object(2,k(65536,shared_block_ref,131072)).
state(2,k(65536,shared_block_ref,131072),parent,131072).
object(-1,k(131072,block_pointers,65536)).
state(-1,k(131072,block_pointers,65536),count,1).
change(2,k(81920,shared_block_ref,81920),object,null,present).
change(2,k(81920,shared_block_ref,81920),parent,null,81920).
object(2,k(81920,shared_block_ref,81920)).
state(2,k(81920,shared_block_ref,81920),parent,81920).

% A leaf loses FULL_BACKREF, and its reference is removed. Another leaf no longer has a file extent
% in the extent.
object(2,k(32768,metadata_item,0)).
state(2,k(32768,metadata_item,0),f(flags,full_backref),0).
object(-1,k(32768,block_pointers,196608)).
state(-1,k(32768,block_pointers,196608),count,1).
change(2,k(196608,shared_data_ref,32768),object,present,null).
change(2,k(196608,shared_data_ref,32768),count,1,null).
object(2,k(49152,metadata_item,0)).
state(2,k(49152,metadata_item,0),f(flags,full_backref),1).
change(2,k(196608,shared_data_ref,49152),object,present,null).
change(2,k(196608,shared_data_ref,49152),count,1,null).

% A node of level 1 has FULL_BACKREF, and points to an address that was data before.
object(2,k(98304,metadata_item,1)).
state(2,k(98304,metadata_item,1),f(flags,full_backref),1).
object(-1,k(98304,block_pointers,262144)).
state(-1,k(98304,block_pointers,262144),count,1).
change(2,k(262144,shared_data_ref,98304),object,present,null).
change(2,k(262144,shared_data_ref,98304),count,1,null).
expect_none.
