% A checksum item loses four sums: two move to another item, two belong to an extent that is
% removed.
rule(23).
change(7,k(-10,extent_csum,65536),nsums,6,2).
object(7,k(-10,extent_csum,65536)).
state(7,k(-10,extent_csum,65536),nsums,2).
object(2,k(61440,extent_item,16384)).
object(7,k(-10,extent_csum,73728)).
state(7,k(-10,extent_csum,73728),nsums,1).
change(2,k(77824,extent_item,12288),object,present,null).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),generation,9).
state(0,k(0,super_block,0),uuid_tree_generation,9).
state(0,k(0,super_block,0),sectorsize,4096).
expect_none.
