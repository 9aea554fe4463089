% The extent of a node says that it is a leaf.
rule(75).
change(2,k(65536,metadata_item,0),object,null,present).
object(2,k(65536,tree_block_ref,5)).
object(-1,k(65536,tree_block,5)).
state(-1,k(65536,tree_block,5),level,1).
expect(75, 2, k(65536,metadata_item,0)).
