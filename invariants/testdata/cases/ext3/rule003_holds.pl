% A block is marked as used by a file.
rule(3).
change(block,900,object,null,present).
change(owner,k(900,owner,a(12,0)),object,null,present).
object(block,900).
expect_none.
