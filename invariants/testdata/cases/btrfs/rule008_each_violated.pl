% A block gets a reference of a node that does not point to it.
rule(8).
change(2,k(65536,shared_block_ref,131072),object,null,present).
change(2,k(65536,shared_block_ref,131072),parent,null,131072).
object(2,k(65536,shared_block_ref,131072)).
state(2,k(65536,shared_block_ref,131072),parent,131072).
expect(8, 2, k(65536,shared_block_ref,131072)).

% A leaf with FULL_BACKREF loses its reference, and still has file extents in the extent.
object(2,k(32768,metadata_item,0)).
state(2,k(32768,metadata_item,0),f(flags,full_backref),1).
object(-1,k(32768,block_pointers,196608)).
state(-1,k(32768,block_pointers,196608),count,1).
change(2,k(196608,shared_data_ref,32768),object,present,null).
change(2,k(196608,shared_data_ref,32768),count,1,null).
expect(8, 2, k(196608,shared_data_ref,32768)).
