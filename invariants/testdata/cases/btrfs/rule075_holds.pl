% A node of level 1 that tree 5 leads to.
rule(75).
change(2,k(65536,metadata_item,1),object,null,present).
object(-1,k(65536,block,0)).
state(-1,k(65536,block,0),level,1).
expect_none.
