% A block group changes to bitmaps, and another to extents. The groups beside them do not change.
rule(77).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),generation,7).
state(0,k(0,super_block,0),uuid_tree_generation,7).
state(0,k(0,super_block,0),sectorsize,4096).
state(0,k(0,super_block,0),log_root,0).
state(0,k(0,super_block,0),f(compat_ro_flags,free_space_tree_valid),1).
change(10,k(65536,free_space_info,65536),object,present,present).
change(10,k(65536,free_space_info,65536),flags,0,1).
object(10,k(65536,free_space_info,65536)).
state(10,k(65536,free_space_info,65536),flags,1).
change(10,k(69632,free_space_extent,4096),object,present,null).
change(10,k(69632,free_space_extent,4096),chunk,65536,null).
change(10,k(65536,free_space_bitmap,65536),object,null,present).
change(10,k(65536,free_space_bitmap,65536),chunk,null,65536).
object(10,k(65536,free_space_bitmap,65536)).
state(10,k(65536,free_space_bitmap,65536),chunk,65536).
object(10,k(131072,free_space_info,65536)).
state(10,k(131072,free_space_info,65536),flags,0).
object(10,k(131072,free_space_extent,4096)).
state(10,k(131072,free_space_extent,4096),chunk,131072).
change(10,k(196608,free_space_info,65536),object,present,present).
change(10,k(196608,free_space_info,65536),flags,1,0).
object(10,k(196608,free_space_info,65536)).
state(10,k(196608,free_space_info,65536),flags,0).
change(10,k(196608,free_space_bitmap,65536),object,present,null).
change(10,k(196608,free_space_bitmap,65536),chunk,196608,null).
change(10,k(196608,free_space_extent,4096),object,null,present).
change(10,k(196608,free_space_extent,4096),chunk,null,196608).
object(10,k(196608,free_space_extent,4096)).
state(10,k(196608,free_space_extent,4096),chunk,196608).
object(10,k(262144,free_space_info,65536)).
state(10,k(262144,free_space_info,65536),flags,1).
object(10,k(262144,free_space_bitmap,65536)).
state(10,k(262144,free_space_bitmap,65536),chunk,262144).

% A block group is added and another is removed, with their free space.
change(10,k(327680,free_space_info,65536),object,null,present).
change(10,k(327680,free_space_info,65536),flags,null,0).
object(10,k(327680,free_space_info,65536)).
state(10,k(327680,free_space_info,65536),flags,0).
change(10,k(327680,free_space_extent,65536),object,null,present).
change(10,k(327680,free_space_extent,65536),chunk,null,327680).
object(10,k(327680,free_space_extent,65536)).
state(10,k(327680,free_space_extent,65536),chunk,327680).
change(10,k(393216,free_space_info,65536),object,present,null).
change(10,k(393216,free_space_info,65536),flags,0,null).
change(10,k(393216,free_space_extent,65536),object,present,null).
change(10,k(393216,free_space_extent,65536),chunk,393216,null).

% There was free space outside of all block groups before.
object(10,k(917504,free_space_extent,4096)).
state(10,k(917504,free_space_extent,4096),chunk,917504).

% A block group is replaced by a longer one.
change(10,k(458752,free_space_info,32768),object,present,null).
change(10,k(458752,free_space_info,32768),flags,0,null).
change(10,k(458752,free_space_info,65536),object,null,present).
change(10,k(458752,free_space_info,65536),flags,null,0).
object(10,k(458752,free_space_info,65536)).
state(10,k(458752,free_space_info,65536),flags,0).
object(10,k(462848,free_space_extent,4096)).
state(10,k(462848,free_space_extent,4096),chunk,458752).
expect_none.
