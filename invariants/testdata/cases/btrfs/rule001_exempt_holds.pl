% A tree that is being dropped gets references, because balance moves its blocks. fsward does not
% follow such a tree.
rule(1).
change(2,k(65536,tree_block_ref,300),object,null,present).
change(2,k(65536,tree_block_ref,300),root,null,300).
object(2,k(65536,tree_block_ref,300)).
state(2,k(65536,tree_block_ref,300),root,300).
object(1,k(300,root_item,0)).
state(1,k(300,root_item,0),refs,0).

% The last commit of a tree removes its root item.
change(2,k(81920,tree_block_ref,301),object,null,present).
change(2,k(81920,tree_block_ref,301),root,null,301).
object(2,k(81920,tree_block_ref,301)).
state(2,k(81920,tree_block_ref,301),root,301).
change(1,k(301,root_item,0),object,present,null).
change(1,k(301,root_item,0),refs,0,null).

% The root tree and the chunk tree have no root item, because the superblock leads to them. Balance
% has a relocation tree for each tree that it works on, with the number of that tree in its key.
change(2,k(98304,tree_block_ref,1),object,null,present).
change(2,k(98304,tree_block_ref,1),root,null,1).
object(2,k(98304,tree_block_ref,1)).
state(2,k(98304,tree_block_ref,1),root,1).
object(-1,k(98304,tree_block,1)).
change(2,k(114688,tree_block_ref,3),object,null,present).
change(2,k(114688,tree_block_ref,3),root,null,3).
object(2,k(114688,tree_block_ref,3)).
state(2,k(114688,tree_block_ref,3),root,3).
object(-1,k(114688,tree_block,3)).
change(2,k(131072,tree_block_ref,-8),object,null,present).
change(2,k(131072,tree_block_ref,-8),root,null,18446744073709551608).
object(2,k(131072,tree_block_ref,-8)).
state(2,k(131072,tree_block_ref,-8),root,18446744073709551608).
expect_none.
