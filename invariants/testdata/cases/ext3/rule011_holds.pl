% The free count of the superblock is the sum over the groups.
rule(11).
change(superblock,0,object,null,present).
change(superblock,0,free_blocks_count,null,100).
change(group,0,free_blocks_count,null,60).
change(group,1,free_blocks_count,null,40).
object(superblock,0).
state(superblock,0,f(feature_incompat,recover),0).
expect_none.
