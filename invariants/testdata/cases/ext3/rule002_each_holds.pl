% A block moves within a file. A block that a file releases becomes an extended attribute block.
rule(2).
change(owner,k(900,owner,a(12,0)),object,present,null).
change(owner,k(900,owner,a(12,4)),object,null,present).
object(owner,k(900,owner,a(12,4))).
object(block,900).
state(block,900,group,0).
change(owner,k(901,owner,a(12,0)),object,present,null).
change(xattr_owner,a(901,13),object,null,present).
object(xattr_owner,a(901,13)).
object(block,901).
state(block,901,group,0).
expect_none.
