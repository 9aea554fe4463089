% The orphan item is removed, with its inode; and the orphan item of an inode with names
% (fs-verity).
rule(11).
change(5,k(-5,orphan_item,257),object,present,null).
change(5,k(257,inode_item,0),object,present,null).
change(5,k(257,inode_item,0),nlink,0,null).
change(5,k(-5,orphan_item,258),object,present,null).
object(5,k(258,inode_item,0)).
state(5,k(258,inode_item,0),nlink,1).
expect_none.
