% A file is cut within its compressed inline data. What was behind it is freed, and the inode is
% updated in the next transaction.
rule(24).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),sectorsize,4096).
object(5,k(257,inode_item,0)).
state(5,k(257,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(5,k(257,inode_item,0),nlink,1).
state(5,k(257,inode_item,0),nbytes,6896).
object(5,k(257,extent_data,0)).
state(5,k(257,extent_data,0),type,inline).
state(5,k(257,extent_data,0),compression,1).
state(5,k(257,extent_data,0),nbytes,2800).
change(5,k(257,extent_data,4096),object,present,null).
change(5,k(257,extent_data,4096),nbytes,4096,null).

% The same, if the extent came and went in one transaction.
object(5,k(258,inode_item,0)).
state(5,k(258,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(5,k(258,inode_item,0),nlink,1).
state(5,k(258,inode_item,0),nbytes,6896).
object(5,k(258,extent_data,0)).
state(5,k(258,extent_data,0),type,inline).
state(5,k(258,extent_data,0),compression,1).
state(5,k(258,extent_data,0),nbytes,2800).
change(5,k(258,inode_item,0),object,present,present).
change(5,k(258,inode_item,0),nbytes,2800,6896).

% The transaction after it.
object(5,k(259,inode_item,0)).
state(5,k(259,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(5,k(259,inode_item,0),nlink,1).
state(5,k(259,inode_item,0),nbytes,4096).
object(5,k(259,extent_data,0)).
state(5,k(259,extent_data,0),compression,0).
state(5,k(259,extent_data,0),nbytes,4096).
change(5,k(259,inode_item,0),object,present,present).
change(5,k(259,inode_item,0),nbytes,6896,4096).
change(5,k(259,extent_data,0),object,present,present).
change(5,k(259,extent_data,0),nbytes,2800,4096).

% The same of a file for which an earlier crash has left a sector too many.
object(5,k(260,inode_item,0)).
state(5,k(260,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(5,k(260,inode_item,0),nlink,1).
state(5,k(260,inode_item,0),nbytes,8192).
object(5,k(260,extent_data,0)).
state(5,k(260,extent_data,0),compression,0).
state(5,k(260,extent_data,0),nbytes,4096).
change(5,k(260,inode_item,0),object,present,present).
change(5,k(260,inode_item,0),nbytes,10992,8192).
change(5,k(260,extent_data,0),object,present,present).
change(5,k(260,extent_data,0),nbytes,2800,4096).
expect_none.
