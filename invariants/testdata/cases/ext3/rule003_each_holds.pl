% A block is marked as used by the extended attributes of an inode.
rule(3).
change(block,900,object,null,present).
change(block,900,group,null,0).
object(block,900).
state(block,900,group,0).
change(xattr_owner,a(900,12),object,null,present).
object(xattr_owner,a(900,12)).
expect_none.
