% A file is created, an existing file gets an extent, and an orphan item has no inode with its
% object id.
rule(12).
change(5,k(257,inode_item,0),object,null,present).
change(5,k(257,inode_item,0),nlink,null,1).
object(5,k(257,inode_item,0)).
state(5,k(257,inode_item,0),nlink,1).
change(5,k(257,extent_data,0),object,null,present).
object(5,k(257,extent_data,0)).
object(5,k(258,inode_item,0)).
change(5,k(258,extent_data,0),object,null,present).
object(5,k(258,extent_data,0)).
change(5,k(-5,orphan_item,257),object,null,present).
object(5,k(-5,orphan_item,257)).

% Object ids below and above the numbers of inodes.
change(5,k(255,extent_data,0),object,null,present).
object(5,k(255,extent_data,0)).
change(5,k(18446744073709551360,extent_data,0),object,null,present).
object(5,k(18446744073709551360,extent_data,0)).
expect_none.
