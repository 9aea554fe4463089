% ... and in an image whose journal is to be replayed.
rule(11).
change(superblock,0,object,null,present).
change(superblock,0,free_blocks_count,null,100).
change(superblock,0,free_inodes_count,null,50).
change(superblock,0,f(feature_incompat,recover),null,1).
object(superblock,0).
state(superblock,0,free_blocks_count,100).
state(superblock,0,free_inodes_count,50).
state(superblock,0,f(feature_incompat,recover),1).
change(group,0,object,null,present).
change(group,0,free_blocks_count,null,60).
change(group,0,free_inodes_count,null,30).
object(group,0).
state(group,0,free_blocks_count,60).
state(group,0,free_inodes_count,30).
expect_none.
