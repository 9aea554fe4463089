% The superblock counts one free inode more than the groups.
rule(11).
change(superblock,0,object,null,present).
change(superblock,0,free_inodes_count,null,101).
change(superblock,0,free_blocks_count,null,5).
object(superblock,0).
state(superblock,0,free_inodes_count,101).
state(superblock,0,free_blocks_count,5).
state(superblock,0,f(feature_incompat,recover),0).
change(group,0,object,null,present).
change(group,0,free_inodes_count,null,60).
change(group,0,free_blocks_count,null,5).
object(group,0).
state(group,0,free_inodes_count,60).
state(group,0,free_blocks_count,5).
change(group,1,object,null,present).
change(group,1,free_inodes_count,null,40).
object(group,1).
state(group,1,free_inodes_count,40).
expect(11, superblock, 0).
