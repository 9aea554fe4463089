% A new file has the number of an existing file; another existing file is of the last transaction.
rule(104).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),generation,9).
state(0,k(0,super_block,0),log_of,256).
change(-6,k(257,inode_item,0),object,null,present).
change(-6,k(257,inode_item,0),generation,null,10).
object(-6,k(257,inode_item,0)).
state(-6,k(257,inode_item,0),generation,10).
object(256,k(257,inode_item,0)).
state(256,k(257,inode_item,0),generation,8).
change(-6,k(258,inode_item,0),object,null,present).
change(-6,k(258,inode_item,0),generation,null,9).
object(-6,k(258,inode_item,0)).
state(-6,k(258,inode_item,0),generation,9).
object(256,k(258,inode_item,0)).
state(256,k(258,inode_item,0),generation,9).
expect(104, -6, k(257,inode_item,0)).
