% The parent block has no FULL_BACKREF.
rule(74).
change(2,k(65536,tree_block_ref,256),object,present,null).
object(-1,k(65536,tree_block,256)).
state(-1,k(65536,tree_block,256),parent,32768).
state(-1,k(65536,tree_block,256),owner,256).
state(-1,k(65536,tree_block,256),level,0).
object(2,k(65536,shared_block_ref,32768)).
object(2,k(32768,metadata_item,1)).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),nodesize,16384).
state(2,k(32768,metadata_item,1),f(flags,full_backref),0).
expect(74, 2, k(65536,tree_block_ref,256)).
