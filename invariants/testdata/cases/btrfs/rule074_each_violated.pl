% The root of a tree loses its reference.
rule(74).
object(-1,k(65536,tree_block,5)).
state(-1,k(65536,tree_block,5),parent,0).
state(-1,k(65536,tree_block,5),level,1).
state(-1,k(65536,tree_block,5),owner,5).
change(2,k(65536,tree_block_ref,5),object,present,null).
expect(74, 2, k(65536,tree_block_ref,5)).

% A leaf below a node with FULL_BACKREF loses the reference of the tree, and has none of the node.
object(2,k(131072,metadata_item,1)).
state(2,k(131072,metadata_item,1),f(flags,full_backref),1).
object(-1,k(81920,tree_block,5)).
state(-1,k(81920,tree_block,5),parent,131072).
state(-1,k(81920,tree_block,5),level,0).
state(-1,k(81920,tree_block,5),owner,5).
change(2,k(81920,tree_block_ref,5),object,present,null).
expect(74, 2, k(81920,tree_block_ref,5)).

% Another tree owns the parent block, and this tree has no reference to the block.
object(2,k(147456,metadata_item,1)).
state(2,k(147456,metadata_item,1),f(flags,full_backref),0).
object(-1,k(98304,tree_block,5)).
state(-1,k(98304,tree_block,5),parent,147456).
state(-1,k(98304,tree_block,5),level,0).
state(-1,k(98304,tree_block,5),owner,300).
object(2,k(98304,tree_block_ref,301)).
change(2,k(98304,tree_block_ref,5),object,present,null).
expect(74, 2, k(98304,tree_block_ref,5)).
