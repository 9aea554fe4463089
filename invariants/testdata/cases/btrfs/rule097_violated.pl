% A file in a log has one name too many.
rule(97).
change(-6,k(257,inode_item,0),object,null,present).
change(-6,k(257,inode_item,0),nlink,null,65536).
expect(97, -6, k(257,inode_item,0)).
