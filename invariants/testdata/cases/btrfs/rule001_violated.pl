% The tree does not lead to the block.
rule(1).
change(2,k(65536,tree_block_ref,5),object,null,present).
object(2,k(65536,tree_block_ref,5)).
object(1,k(5,root_item,0)).
state(1,k(5,root_item,0),refs,1).
expect(1, 2, k(65536,tree_block_ref,5)).
