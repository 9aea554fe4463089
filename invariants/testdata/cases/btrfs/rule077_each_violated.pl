% Free space reaches beyond its block group. A block group with bitmaps has a free_space_extent, and
% one with extents has a bitmap.
rule(77).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),generation,7).
state(0,k(0,super_block,0),uuid_tree_generation,7).
state(0,k(0,super_block,0),sectorsize,4096).
state(0,k(0,super_block,0),log_root,0).
state(0,k(0,super_block,0),f(compat_ro_flags,free_space_tree_valid),1).
object(10,k(65536,free_space_info,65536)).
state(10,k(65536,free_space_info,65536),flags,0).
change(10,k(122880,free_space_extent,16384),object,null,present).
change(10,k(122880,free_space_extent,16384),chunk,null,65536).
object(10,k(122880,free_space_extent,16384)).
state(10,k(122880,free_space_extent,16384),chunk,65536).
object(10,k(196608,free_space_info,65536)).
state(10,k(196608,free_space_info,65536),flags,1).
change(10,k(196608,free_space_extent,8192),object,null,present).
change(10,k(196608,free_space_extent,8192),chunk,null,196608).
object(10,k(196608,free_space_extent,8192)).
state(10,k(196608,free_space_extent,8192),chunk,196608).
object(10,k(327680,free_space_info,65536)).
state(10,k(327680,free_space_info,65536),flags,0).
change(10,k(327680,free_space_bitmap,65536),object,null,present).
change(10,k(327680,free_space_bitmap,65536),chunk,null,327680).
object(10,k(327680,free_space_bitmap,65536)).
state(10,k(327680,free_space_bitmap,65536),chunk,327680).
expect(77, 10, k(122880,free_space_extent,16384)).
expect(77, 10, k(196608,free_space_extent,8192)).
expect(77, 10, k(327680,free_space_bitmap,65536)).

% A block group changes to bitmaps, or to extents, and one item of the old form is left: the last
% one, of one sector, or the first.
change(10,k(458752,free_space_info,65536),object,present,present).
change(10,k(458752,free_space_info,65536),flags,0,1).
object(10,k(458752,free_space_info,65536)).
state(10,k(458752,free_space_info,65536),flags,1).
object(10,k(520192,free_space_extent,4096)).
state(10,k(520192,free_space_extent,4096),chunk,458752).
change(10,k(589824,free_space_info,65536),object,present,present).
change(10,k(589824,free_space_info,65536),flags,1,0).
object(10,k(589824,free_space_info,65536)).
state(10,k(589824,free_space_info,65536),flags,0).
object(10,k(589824,free_space_bitmap,65536)).
state(10,k(589824,free_space_bitmap,65536),chunk,589824).
expect(77, 10, k(520192,free_space_extent,4096)).
expect(77, 10, k(589824,free_space_bitmap,65536)).
