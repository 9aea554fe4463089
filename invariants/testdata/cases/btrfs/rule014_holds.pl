% A second name is added, and the link count grows.
rule(14).
change(5,k(257,inode_item,0),object,present,present).
change(5,k(257,inode_item,0),nlink,1,2).
change(5,k(257,inode_ref,a(256,3)),object,null,present).
object(5,k(257,inode_item,0)).
state(5,k(257,inode_item,0),nlink,2).
expect_none.
