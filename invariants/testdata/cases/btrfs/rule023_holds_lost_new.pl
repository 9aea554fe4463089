% The sums that the item loses belong to the space of a new extent, which has no data yet.
rule(23).
change(7,k(-10,extent_csum,65536),nsums,6,2).
object(7,k(-10,extent_csum,65536)).
state(7,k(-10,extent_csum,65536),nsums,2).
change(2,k(77824,extent_item,12288),object,null,present).
object(2,k(77824,extent_item,12288)).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),generation,9).
state(0,k(0,super_block,0),uuid_tree_generation,9).
state(0,k(0,super_block,0),sectorsize,4096).
expect_none.
