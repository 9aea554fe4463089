% The orphan item is removed, and the inode without a name stays.
rule(11).
change(5,k(-5,orphan_item,257),object,present,null).
object(5,k(257,inode_item,0)).
state(5,k(257,inode_item,0),nlink,0).
expect(11, 5, k(257,inode_item,0)).
