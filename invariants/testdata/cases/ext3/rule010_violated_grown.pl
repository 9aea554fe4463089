% The last group gets 1000 more blocks, and its free count does not change.
rule(10).
change(group,1,object,present,present).
change(group,1,blocks_count,3000,4000).
change(group,1,free_blocks_count,2000,2000).
change(group,1,free_inodes_count,500,500).
object(group,1).
state(group,1,blocks_count,4000).
change(group,2,object,null,present).
change(group,2,blocks_count,null,8192).
change(group,2,inodes_count,null,512).
change(group,2,free_blocks_count,null,8191).
change(group,2,free_inodes_count,null,512).
object(group,2).
state(group,2,blocks_count,8192).
state(group,2,inodes_count,512).
change(block,a(12345,1),object,null,present).
change(block,a(12345,1),group,null,2).
object(block,a(12345,1)).
expect(10, group, 1).
