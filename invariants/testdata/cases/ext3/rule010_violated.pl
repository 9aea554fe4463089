% A block is allocated, and the free count of its group does not change.
rule(10).
change(group,0,object,present,present).
change(group,0,free_blocks_count,100,100).
change(block,a(900,1),object,null,present).
change(block,a(900,1),group,null,0).
object(group,0).
object(block,a(900,1)).
expect(10, group, 0).
