% Only another subvolume has this file.
rule(104).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),generation,9).
state(0,k(0,super_block,0),log_of,256).
change(-6,k(257,inode_item,0),object,null,present).
change(-6,k(257,inode_item,0),generation,null,8).
object(-6,k(257,inode_item,0)).
state(-6,k(257,inode_item,0),generation,8).
object(5,k(257,inode_item,0)).
state(5,k(257,inode_item,0),generation,8).
expect(104, -6, k(257,inode_item,0)).
