% The bit of an inode with a link is cleared. The bit of the first unreserved inode is set, and
% nothing uses the inode.
rule(6).
object(superblock,0).
state(superblock,0,first_ino,11).
state(superblock,0,inodes_count,1000).
change(inode_bit,12,object,present,null).
change(inode_bit,12,inode_group,0,null).
object(inode,12).
state(inode,12,links_count,1).
change(inode_bit,11,object,null,present).
change(inode_bit,11,inode_group,null,0).
object(inode_bit,11).
state(inode_bit,11,inode_group,0).
expect(6, inode_bit, 12).
expect(6, inode_bit, 11).
