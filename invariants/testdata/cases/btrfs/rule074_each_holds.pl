% The reference of a tree that no longer leads to the block is removed.
rule(74).
change(2,k(65536,tree_block_ref,300),object,present,null).

% A shared leaf gets a reference of its parent node, which has FULL_BACKREF, in place of the
% reference of the tree.
object(2,k(131072,metadata_item,1)).
state(2,k(131072,metadata_item,1),f(flags,full_backref),1).
object(-1,k(81920,tree_block,5)).
state(-1,k(81920,tree_block,5),parent,131072).
state(-1,k(81920,tree_block,5),level,0).
state(-1,k(81920,tree_block,5),owner,5).
change(2,k(81920,tree_block_ref,5),object,present,null).
change(2,k(81920,shared_block_ref,131072),object,null,present).
change(2,k(81920,shared_block_ref,131072),parent,null,131072).
object(2,k(81920,shared_block_ref,131072)).
state(2,k(81920,shared_block_ref,131072),parent,131072).

% The tree that loses its reference shares the block with the tree that owns the parent node. That
% tree keeps its reference.
object(2,k(147456,metadata_item,1)).
state(2,k(147456,metadata_item,1),f(flags,full_backref),0).
object(-1,k(98304,tree_block,300)).
state(-1,k(98304,tree_block,300),parent,147456).
state(-1,k(98304,tree_block,300),level,0).
state(-1,k(98304,tree_block,300),owner,5).
change(2,k(98304,tree_block_ref,300),object,present,null).
object(2,k(98304,tree_block_ref,5)).
expect_none.
