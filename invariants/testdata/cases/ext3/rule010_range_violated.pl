% A range of blocks is allocated, and the count is one too high.
rule(10).
change(group,0,object,present,present).
change(group,0,free_blocks_count,5000,4001).
change(block,a(900,1000),object,null,present).
change(block,a(900,1000),group,null,0).
object(group,0).
object(block,a(900,1000)).
expect(10, group, 0).
