% A file that the subvolume has, a new one, one of the first transaction, and one that is only
% logged to exist.
rule(104).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),generation,9).
state(0,k(0,super_block,0),log_of,256).
change(-6,k(257,inode_item,0),object,null,present).
change(-6,k(257,inode_item,0),generation,null,8).
object(-6,k(257,inode_item,0)).
state(-6,k(257,inode_item,0),generation,8).
object(256,k(257,inode_item,0)).
state(256,k(257,inode_item,0),generation,8).
change(-6,k(258,inode_item,0),object,null,present).
change(-6,k(258,inode_item,0),generation,null,10).
object(-6,k(258,inode_item,0)).
state(-6,k(258,inode_item,0),generation,10).
change(-6,k(259,inode_item,0),object,null,present).
change(-6,k(259,inode_item,0),generation,null,0).
object(-6,k(259,inode_item,0)).
state(-6,k(259,inode_item,0),generation,0).
change(-6,k(260,inode_item,0),object,null,present).
change(-6,k(260,inode_item,0),generation,null,1).
object(-6,k(260,inode_item,0)).
state(-6,k(260,inode_item,0),generation,1).
object(256,k(260,inode_item,0)).
state(256,k(260,inode_item,0),generation,1).
expect_none.
