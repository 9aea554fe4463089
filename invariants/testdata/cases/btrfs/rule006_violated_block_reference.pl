% A metadata block of 16 KiB, which is followed by its reference, reaches into the extent that is
% added behind it.
rule(6).
change(2,k(20480,extent_item,4096),object,null,present).
object(2,k(20480,extent_item,4096)).
object(2,k(8192,metadata_item,1)).
object(2,k(8192,tree_block_ref,5)).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),nodesize,16384).
expect(6, 2, k(20480,extent_item,4096)).
