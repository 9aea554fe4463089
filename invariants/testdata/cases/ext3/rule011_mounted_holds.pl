% While the file system is mounted, the counts of the superblock are out of date: in a commit, ...
rule(11).
change(superblock,0,object,present,present).
change(superblock,0,free_blocks_count,100,90).
change(superblock,0,free_inodes_count,50,40).
object(superblock,0).
state(superblock,0,free_blocks_count,90).
state(superblock,0,free_inodes_count,40).
state(superblock,0,f(feature_incompat,recover),0).
change(group,0,object,present,present).
change(group,0,free_blocks_count,60,40).
change(group,0,free_inodes_count,30,10).
object(group,0).
state(group,0,free_blocks_count,40).
state(group,0,free_inodes_count,10).
expect_none.
