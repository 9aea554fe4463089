% Rule 15, not this one, judges the nbytes of a directory.
rule(24).
change(5,k(257,inode_item,0),object,present,present).
change(5,k(257,inode_item,0),nbytes,0,4096).
object(5,k(257,inode_item,0)).
state(5,k(257,inode_item,0),nbytes,4096).
state(5,k(257,inode_item,0),f(mode,s_ifmt),s_ifdir).
state(5,k(257,inode_item,0),nlink,1).

% A file without a name loses its extents one by one.
object(5,k(258,inode_item,0)).
state(5,k(258,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(5,k(258,inode_item,0),nlink,0).
change(5,k(258,extent_data,0),object,present,null).
change(5,k(258,extent_data,0),nbytes,4096,null).
change(5,k(259,inode_item,0),object,present,present).
change(5,k(259,inode_item,0),nbytes,4096,0).
object(5,k(259,inode_item,0)).
state(5,k(259,inode_item,0),nbytes,0).
state(5,k(259,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(5,k(259,inode_item,0),nlink,0).

% Rule 12, not this one, judges an extent without an inode. A file is removed with its extents.
object(5,k(262,inode_item,0)).
state(5,k(262,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(5,k(262,inode_item,0),nlink,1).
change(5,k(262,extent_data,0),object,present,null).
change(5,k(262,extent_data,0),nbytes,4096,null).
change(5,k(262,extent_data,8192),object,null,present).
change(5,k(262,extent_data,8192),nbytes,null,4096).
object(5,k(262,extent_data,8192)).
state(5,k(262,extent_data,8192),nbytes,4096).
change(5,k(260,extent_data,0),object,null,present).
change(5,k(260,extent_data,0),nbytes,null,4096).
object(5,k(260,extent_data,0)).
state(5,k(260,extent_data,0),nbytes,4096).
change(5,k(261,inode_item,0),object,present,null).
change(5,k(261,inode_item,0),nbytes,4096,null).
change(5,k(261,extent_data,0),object,present,null).
change(5,k(261,extent_data,0),nbytes,4096,null).
expect_none.
