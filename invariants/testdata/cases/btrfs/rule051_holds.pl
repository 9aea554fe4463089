% A device has an rdev.
rule(51).
change(5,k(257,inode_item,0),object,null,present).
change(5,k(257,inode_item,0),rdev,null,259).
object(5,k(257,inode_item,0)).
state(5,k(257,inode_item,0),f(mode,s_ifmt),s_ifchr).
expect_none.
