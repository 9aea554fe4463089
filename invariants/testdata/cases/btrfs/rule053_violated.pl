% A file is protected, and has no descriptor.
rule(53).
change(5,k(257,inode_item,0),object,present,present).
change(5,k(257,inode_item,0),flags,0,4294967296).
object(5,k(257,inode_item,0)).
state(5,k(257,inode_item,0),flags,4294967296).
expect(53, 5, k(257,inode_item,0)).
