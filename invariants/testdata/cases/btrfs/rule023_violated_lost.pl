% A checksum item loses four sums: the first two belong to an extent that stays, and that begins
% before them.
rule(23).
change(7,k(-10,extent_csum,65536),nsums,6,2).
object(7,k(-10,extent_csum,65536)).
state(7,k(-10,extent_csum,65536),nsums,2).
object(2,k(61440,extent_item,16384)).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),generation,9).
state(0,k(0,super_block,0),uuid_tree_generation,9).
state(0,k(0,super_block,0),sectorsize,4096).
expect(23, 7, k(-10,extent_csum,65536)).
