% A new leaf of tree 5 whose header names a subvolume that does not exist, or one that does not lead
% to the leaf.
rule(105).
change(2,k(65536,tree_block_ref,5),object,null,present).
object(2,k(65536,tree_block_ref,5)).
object(2,k(65536,metadata_item,0)).
state(2,k(65536,metadata_item,0),f(flags,full_backref),0).
object(-1,k(65536,block,0)).
state(-1,k(65536,block,0),owner,4101).
state(-1,k(65536,block,0),f(flags,reloc),0).
object(-1,k(65536,tree_block,5)).
expect(105, 2, k(65536,tree_block_ref,5)).

change(2,k(81920,tree_block_ref,5),object,null,present).
object(2,k(81920,tree_block_ref,5)).
object(-1,k(81920,block,0)).
state(-1,k(81920,block,0),owner,256).
state(-1,k(81920,block,0),f(flags,reloc),0).
object(-1,k(81920,tree_block,5)).
object(1,k(256,root_item,0)).
expect(105, 2, k(81920,tree_block_ref,5)).
