% A block moves within a file. A block that a file releases becomes an extended attribute block.
rule(2).
change(owner,k(900,owner,a(12,0)),object,present,null).
change(owner,k(900,owner,a(12,0)),length,1,null).
change(owner,k(900,owner,a(12,4)),object,null,present).
change(owner,k(900,owner,a(12,4)),length,null,1).
object(owner,k(900,owner,a(12,4))).
object(block,a(900,1)).
state(block,a(900,1),group,0).
change(owner,k(901,owner,a(12,0)),object,present,null).
change(owner,k(901,owner,a(12,0)),length,1,null).
change(xattr_owner,a(901,13),object,null,present).
object(xattr_owner,a(901,13)).
object(block,a(901,1)).
state(block,a(901,1),group,0).
expect_none.
