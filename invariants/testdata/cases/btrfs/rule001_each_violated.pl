% A block gets a reference of a tree that does not exist, and of a tree that does not lead to the
% block.
rule(1).
change(2,k(65536,tree_block_ref,300),object,null,present).
change(2,k(65536,tree_block_ref,300),root,null,300).
object(2,k(65536,tree_block_ref,300)).
state(2,k(65536,tree_block_ref,300),root,300).
change(2,k(81920,tree_block_ref,301),object,null,present).
change(2,k(81920,tree_block_ref,301),root,null,301).
object(2,k(81920,tree_block_ref,301)).
state(2,k(81920,tree_block_ref,301),root,301).
object(1,k(301,root_item,0)).
state(1,k(301,root_item,0),refs,1).
expect(1, 2, k(65536,tree_block_ref,300)).
expect(1, 2, k(81920,tree_block_ref,301)).

% The root tree and the chunk tree do not lead to a block either.
change(2,k(98304,tree_block_ref,1),object,null,present).
change(2,k(98304,tree_block_ref,1),root,null,1).
object(2,k(98304,tree_block_ref,1)).
state(2,k(98304,tree_block_ref,1),root,1).
change(2,k(114688,tree_block_ref,3),object,null,present).
change(2,k(114688,tree_block_ref,3),root,null,3).
object(2,k(114688,tree_block_ref,3)).
state(2,k(114688,tree_block_ref,3),root,3).
expect(1, 2, k(98304,tree_block_ref,1)).
expect(1, 2, k(114688,tree_block_ref,3)).

% The root item of a subvolume with another number is removed.
change(1,k(302,root_item,0),object,present,null).
change(1,k(302,root_item,0),refs,0,null).
