% The extent of a node says that it is a leaf.
rule(75).
change(2,k(65536,metadata_item,0),object,null,present).
object(-1,k(65536,block,0)).
state(-1,k(65536,block,0),level,1).
expect(75, 2, k(65536,metadata_item,0)).
