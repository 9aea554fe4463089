% A run grows across the border of two bitmaps, and is counted as two.
rule(79).
change(10,k(65536,free_space_info,65536),extent_count,1,2).
state(10,k(65536,free_space_info,65536),flags,1).
object(10,k(65536,free_space_bitmap,32768)).
object(10,k(98304,free_space_bitmap,32768)).
adjacent(10,k(65536,free_space_bitmap,32768),k(98304,free_space_bitmap,32768)).
state(10,k(65536,free_space_bitmap,32768),chunk,65536).
state(10,k(98304,free_space_bitmap,32768),chunk,65536).
state(10,k(65536,free_space_bitmap,32768),last,1).
change(10,k(98304,free_space_bitmap,32768),first,0,1).
change(10,k(98304,free_space_run,a(32768,98304)),object,null,present).
change(10,k(98304,free_space_run,a(32768,98304)),chunk,null,65536).
object(10,k(65536,free_space_info,65536)).
object(2,k(65536,block_group_item,65536)).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),generation,9).
state(0,k(0,super_block,0),uuid_tree_generation,9).
state(0,k(0,super_block,0),f(compat_ro_flags,free_space_tree_valid),1).
state(0,k(0,super_block,0),sectorsize,4096).
state(0,k(0,super_block,0),nodesize,16384).
expect(79, 10, k(65536,free_space_info,65536)).
