% The descriptor is removed, and the file stays protected.
rule(53).
change(5,k(257,verity_desc_item,0),object,present,null).
object(5,k(257,inode_item,0)).
state(5,k(257,inode_item,0),flags,4294967296).
expect(53, 5, k(257,inode_item,0)).
