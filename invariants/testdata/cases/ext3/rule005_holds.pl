% Two files get a block each.
rule(5).
change(owner,k(900,owner,a(12,0)),object,null,present).
change(owner,k(900,owner,a(12,0)),length,null,1).
change(owner,k(901,owner,a(13,0)),object,null,present).
change(owner,k(901,owner,a(13,0)),length,null,1).
object(owner,k(900,owner,a(12,0))).
object(owner,k(901,owner,a(13,0))).
expect_none.
