% Ranges of blocks are allocated and freed in two groups.
rule(10).
change(group,0,object,present,present).
change(group,0,free_blocks_count,5000,4130).
change(block,a(900,1000),object,null,present).
change(block,a(900,1000),group,null,0).
change(block,a(3000,130),object,present,null).
change(block,a(3000,130),group,0,null).
change(group,1,object,present,present).
change(group,1,free_blocks_count,0,8192).
change(block,a(8192,8192),object,present,null).
change(block,a(8192,8192),group,1,null).
object(group,0).
object(group,1).
object(block,a(900,1000)).
expect_none.
