% A file releases a block, and the bitmap marks it as free.
rule(2).
change(owner,k(900,owner,a(12,0)),object,present,null).
change(owner,k(900,owner,a(12,0)),length,1,null).
change(block,a(900,1),object,present,null).
change(block,a(900,1),group,0,null).
expect_none.
