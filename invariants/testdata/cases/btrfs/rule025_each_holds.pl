% A file of one extent is written, a file becomes empty, a directory grows.
rule(25).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),f(incompat_flags,no_holes),0).
object(5,k(257,inode_item,0)).
state(5,k(257,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(5,k(257,inode_item,0),nlink,1).
state(5,k(257,inode_item,0),size,8192).
object(5,k(257,extent_data,0)).
state(5,k(257,extent_data,0),end,8192).
change(5,k(257,extent_data,0),object,null,present).
change(5,k(257,inode_item,0),object,present,present).
change(5,k(257,inode_item,0),size,0,8192).
object(5,k(258,inode_item,0)).
state(5,k(258,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(5,k(258,inode_item,0),nlink,1).
state(5,k(258,inode_item,0),size,0).
change(5,k(258,inode_item,0),object,present,present).
change(5,k(258,inode_item,0),size,4096,0).
change(5,k(258,extent_data,0),object,present,null).
object(5,k(259,inode_item,0)).
state(5,k(259,inode_item,0),f(mode,s_ifmt),s_ifdir).
state(5,k(259,inode_item,0),nlink,1).
state(5,k(259,inode_item,0),size,20).
change(5,k(259,inode_item,0),object,present,present).
change(5,k(259,inode_item,0),size,10,20).

% A file is truncated in the middle and at the end of an extent; two extents of a file become one.
object(5,k(260,inode_item,0)).
state(5,k(260,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(5,k(260,inode_item,0),nlink,1).
state(5,k(260,inode_item,0),size,4096).
object(5,k(260,extent_data,0)).
state(5,k(260,extent_data,0),end,4096).
change(5,k(260,inode_item,0),object,present,present).
change(5,k(260,inode_item,0),size,16384,4096).
change(5,k(260,extent_data,4096),object,present,null).
change(5,k(260,extent_data,8192),object,present,null).
object(5,k(261,inode_item,0)).
state(5,k(261,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(5,k(261,inode_item,0),nlink,1).
state(5,k(261,inode_item,0),size,8192).
object(5,k(261,extent_data,0)).
state(5,k(261,extent_data,0),end,8192).
change(5,k(261,extent_data,4096),object,present,null).

% The rule says nothing about a file without names.
object(5,k(262,inode_item,0)).
state(5,k(262,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(5,k(262,inode_item,0),nlink,0).
state(5,k(262,inode_item,0),size,12288).
object(5,k(262,extent_data,8192)).
state(5,k(262,extent_data,8192),end,12288).
change(5,k(262,inode_item,0),object,present,present).
change(5,k(262,inode_item,0),size,4096,12288).
change(5,k(262,extent_data,8192),object,null,present).
change(5,k(262,extent_data,0),object,present,null).

% Space is preallocated behind the end of a file. A part of the file was missing before. Space
% behind the end is not a part of the file.
object(5,k(263,inode_item,0)).
state(5,k(263,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(5,k(263,inode_item,0),nlink,1).
state(5,k(263,inode_item,0),size,8192).
object(5,k(263,extent_data,0)).
state(5,k(263,extent_data,0),end,4096).
object(5,k(263,extent_data,8192)).
state(5,k(263,extent_data,8192),end,12288).
object(5,k(263,extent_data,16384)).
state(5,k(263,extent_data,16384),end,20480).
change(5,k(263,extent_data,8192),object,null,present).
change(5,k(263,extent_data,16384),object,null,present).

% A file grows into preallocated space, without a gap; and a new file.
object(5,k(264,inode_item,0)).
state(5,k(264,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(5,k(264,inode_item,0),nlink,1).
state(5,k(264,inode_item,0),size,12288).
object(5,k(264,extent_data,0)).
state(5,k(264,extent_data,0),end,4096).
object(5,k(264,extent_data,4096)).
state(5,k(264,extent_data,4096),end,8192).
object(5,k(264,extent_data,8192)).
state(5,k(264,extent_data,8192),end,12288).
change(5,k(264,inode_item,0),object,present,present).
change(5,k(264,inode_item,0),size,4096,12288).
change(5,k(265,inode_item,0),object,null,present).
change(5,k(265,inode_item,0),f(mode,s_ifmt),null,s_ifreg).
change(5,k(265,inode_item,0),nlink,null,1).
change(5,k(265,inode_item,0),size,null,4096).
object(5,k(265,inode_item,0)).
state(5,k(265,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(5,k(265,inode_item,0),nlink,1).
state(5,k(265,inode_item,0),size,4096).
change(5,k(265,extent_data,0),object,null,present).
change(5,k(265,extent_data,0),end,null,4096).
object(5,k(265,extent_data,0)).
state(5,k(265,extent_data,0),end,4096).

% A file is deleted.
change(5,k(266,inode_item,0),object,present,null).
change(5,k(266,inode_item,0),f(mode,s_ifmt),s_ifreg,null).
change(5,k(266,inode_item,0),nlink,1,null).
change(5,k(266,inode_item,0),size,4096,null).
change(5,k(266,extent_data,0),object,present,null).
change(5,k(266,extent_data,0),end,4096,null).

% A log need not have all extents of a file.
object(-6,k(267,inode_item,0)).
state(-6,k(267,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(-6,k(267,inode_item,0),nlink,1).
state(-6,k(267,inode_item,0),size,12288).
object(-6,k(267,extent_data,4096)).
state(-6,k(267,extent_data,4096),end,8192).
change(-6,k(267,extent_data,4096),object,null,present).
change(-6,k(267,inode_item,0),object,present,present).
change(-6,k(267,inode_item,0),size,0,12288).
change(-6,k(267,extent_data,0),object,present,null).
object(-6,k(268,inode_item,0)).
state(-6,k(268,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(-6,k(268,inode_item,0),nlink,1).
state(-6,k(268,inode_item,0),size,12288).
object(-6,k(268,extent_data,8192)).
state(-6,k(268,extent_data,8192),end,12288).
change(-6,k(268,inode_item,0),object,present,present).
change(-6,k(268,inode_item,0),size,4096,12288).
expect_none.
