% A file that is unlinked while it is open has an orphan item.
rule(11).
change(5,k(257,inode_item,0),object,present,present).
change(5,k(257,inode_item,0),nlink,1,0).
change(5,k(-5,orphan_item,257),object,null,present).
object(5,k(257,inode_item,0)).
state(5,k(257,inode_item,0),nlink,0).
object(5,k(-5,orphan_item,257)).
expect_none.
