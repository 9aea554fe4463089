% A block is marked as free that a file gave back.
rule(4).
change(block,900,object,present,null).
change(owner,k(900,owner,a(12,0)),object,present,null).
expect_none.
