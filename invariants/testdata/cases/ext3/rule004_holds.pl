% A block that a file releases is marked as free.
rule(4).
change(block,a(900,1),object,present,null).
change(owner,k(900,owner,a(12,0)),object,present,null).
change(owner,k(900,owner,a(12,0)),length,1,null).
expect_none.
