% The link count grows without a name.
rule(14).
change(5,k(257,inode_item,0),object,present,present).
change(5,k(257,inode_item,0),nlink,1,2).
object(5,k(257,inode_item,0)).
state(5,k(257,inode_item,0),nlink,2).
expect(14, 5, k(257,inode_item,0)).
