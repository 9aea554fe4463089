% The ctransid of a subvolume is a later transaction than the superblock's.
rule(58).
change(1,k(256,root_item,0),object,present,present).
change(1,k(256,root_item,0),ctransid,6,8).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),generation,7).
expect(58, 1, k(256,root_item,0)).
