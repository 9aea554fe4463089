% The superblock counts one free block more than the groups.
rule(11).
change(superblock,0,object,null,present).
change(superblock,0,free_blocks_count,null,101).
change(group,0,free_blocks_count,null,60).
change(group,1,free_blocks_count,null,40).
object(superblock,0).
state(superblock,0,f(feature_incompat,recover),0).
expect(11, superblock, 0).
