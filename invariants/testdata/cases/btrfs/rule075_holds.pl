% A node of level 1 that tree 5 leads to.
rule(75).
change(2,k(65536,metadata_item,1),object,null,present).
object(2,k(65536,tree_block_ref,5)).
object(-1,k(65536,tree_block,5)).
state(-1,k(65536,tree_block,5),level,1).
expect_none.
