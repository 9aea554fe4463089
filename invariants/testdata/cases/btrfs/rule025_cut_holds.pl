% A file is cut within its compressed inline data, and keeps its size until the next transaction.
rule(25).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),f(incompat_flags,no_holes),0).
object(5,k(257,inode_item,0)).
state(5,k(257,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(5,k(257,inode_item,0),nlink,1).
state(5,k(257,inode_item,0),size,8192).
object(5,k(257,extent_data,0)).
state(5,k(257,extent_data,0),type,inline).
state(5,k(257,extent_data,0),compression,1).
state(5,k(257,extent_data,0),end,4096).
change(5,k(257,extent_data,4096),object,present,null).

% The same of a new file.
object(5,k(258,inode_item,0)).
state(5,k(258,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(5,k(258,inode_item,0),nlink,1).
state(5,k(258,inode_item,0),size,8192).
change(5,k(258,inode_item,0),object,null,present).
change(5,k(258,inode_item,0),size,null,8192).
object(5,k(258,extent_data,0)).
state(5,k(258,extent_data,0),type,inline).
state(5,k(258,extent_data,0),compression,1).
state(5,k(258,extent_data,0),end,4096).
change(5,k(258,extent_data,0),object,null,present).
expect_none.
