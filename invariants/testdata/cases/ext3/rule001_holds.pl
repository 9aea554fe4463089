% A file gets a block, and the bitmap marks it.
rule(1).
change(owner,k(900,owner,a(12,0)),object,null,present).
change(block,900,object,null,present).
change(block,900,group,null,0).
object(block,900).
object(owner,k(900,owner,a(12,0))).
expect_none.
