% A block is allocated, and the free count of its group is one less.
rule(10).
change(group,0,object,present,present).
change(group,0,free_blocks_count,100,99).
change(block,900,object,null,present).
change(block,900,group,null,0).
object(group,0).
object(block,900).
expect_none.
