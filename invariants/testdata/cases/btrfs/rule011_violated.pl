% The last name of a file is removed, and no orphan item is added.
rule(11).
change(5,k(257,inode_item,0),object,present,present).
change(5,k(257,inode_item,0),nlink,1,0).
object(5,k(257,inode_item,0)).
state(5,k(257,inode_item,0),nlink,0).
expect(11, 5, k(257,inode_item,0)).
