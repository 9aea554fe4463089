% A symbolic link has a target of its size.
rule(52).
change(5,k(257,inode_item,0),object,null,present).
change(5,k(257,inode_item,0),size,null,6).
change(5,k(257,inode_item,0),flags,null,0).
change(5,k(257,extent_data,0),object,null,present).
change(5,k(257,extent_data,0),type,null,inline).
object(5,k(257,inode_item,0)).
state(5,k(257,inode_item,0),f(mode,s_ifmt),s_iflnk).
state(5,k(257,inode_item,0),nlink,1).
state(5,k(257,inode_item,0),size,6).
object(5,k(257,extent_data,0)).
state(5,k(257,extent_data,0),type,inline).
state(5,k(257,extent_data,0),ram_bytes,6).
expect_none.
