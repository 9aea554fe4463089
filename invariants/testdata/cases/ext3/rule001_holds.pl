% A file gets a block, and the bitmap marks it.
rule(1).
change(owner,k(900,owner,a(12,0)),object,null,present).
change(owner,k(900,owner,a(12,0)),length,null,1).
change(block,a(900,1),object,null,present).
change(block,a(900,1),group,null,0).
object(block,a(900,1)).
object(owner,k(900,owner,a(12,0))).
expect_none.
