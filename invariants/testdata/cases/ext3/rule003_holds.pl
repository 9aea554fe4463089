% A block is marked as used by a file.
rule(3).
change(block,a(900,1),object,null,present).
change(owner,k(900,owner,a(12,0)),object,null,present).
change(owner,k(900,owner,a(12,0)),length,null,1).
object(block,a(900,1)).
expect_none.
