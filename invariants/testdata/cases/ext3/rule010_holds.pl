% A block is allocated, and the free count of its group is one less.
rule(10).
change(group,0,object,present,present).
change(group,0,free_blocks_count,100,99).
change(block,a(900,1),object,null,present).
change(block,a(900,1),group,null,0).
object(group,0).
object(block,a(900,1)).
expect_none.
