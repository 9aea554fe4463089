% The bitmaps of a block group are removed with it; those of another are replaced by extents. The
% rule says nothing if the tree is not valid.
rule(107).
object(10,k(1048576,free_space_info,8388608)).
state(10,k(1048576,free_space_info,8388608),flags,0).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),generation,9).
state(0,k(0,super_block,0),uuid_tree_generation,9).
state(0,k(0,super_block,0),f(compat_ro_flags,free_space_tree_valid),1).
state(0,k(0,super_block,0),sectorsize,4096).
change(10,k(1048576,free_space_bitmap,8388608),object,present,null).
change(10,k(1048576,free_space_bitmap,8388608),chunk,1048576,null).
change(10,k(34603008,free_space_bitmap,8388608),object,present,null).
change(10,k(34603008,free_space_bitmap,8388608),chunk,34603008,null).
expect_none.
