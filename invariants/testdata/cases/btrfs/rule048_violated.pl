% A block is added, and the used of its block group does not count it.
rule(48).
change(2,k(65536,block_group_item,65536),used,4096,8192).
change(2,k(65536,extent_item,8192),chunk,null,65536).
change(2,k(81920,metadata_item,0),chunk,null,65536).
change(2,k(98304,extent_item,4096),chunk,65536,null).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),nodesize,16384).
expect(48, 2, k(65536,block_group_item,65536)).
