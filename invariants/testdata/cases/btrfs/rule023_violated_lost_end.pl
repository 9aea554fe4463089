% A checksum item loses four sums: the last belongs to an extent that stays, and whose other sums
% stay.
rule(23).
change(7,k(-10,extent_csum,65536),nsums,6,2).
object(7,k(-10,extent_csum,65536)).
state(7,k(-10,extent_csum,65536),nsums,2).
object(2,k(86016,extent_item,8192)).
object(7,k(-10,extent_csum,90112)).
state(7,k(-10,extent_csum,90112),nsums,1).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),generation,9).
state(0,k(0,super_block,0),uuid_tree_generation,9).
state(0,k(0,super_block,0),sectorsize,4096).
expect(23, 7, k(-10,extent_csum,65536)).
