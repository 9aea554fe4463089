% A block is marked as used by the extended attributes of an inode.
rule(3).
change(block,a(900,1),object,null,present).
change(block,a(900,1),group,null,0).
object(block,a(900,1)).
state(block,a(900,1),group,0).
change(xattr_owner,a(900,12),object,null,present).
object(xattr_owner,a(900,12)).
expect_none.
