% An extent is added with a gap behind it, and one with a gap before it.
rule(25).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),f(incompat_flags,no_holes),0).
object(5,k(257,inode_item,0)).
state(5,k(257,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(5,k(257,inode_item,0),nlink,1).
state(5,k(257,inode_item,0),size,8192).
object(5,k(257,extent_data,0)).
state(5,k(257,extent_data,0),end,4096).
change(5,k(257,extent_data,0),object,null,present).
object(5,k(258,inode_item,0)).
state(5,k(258,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(5,k(258,inode_item,0),nlink,1).
state(5,k(258,inode_item,0),size,12288).
object(5,k(258,extent_data,0)).
state(5,k(258,extent_data,0),end,4096).
object(5,k(258,extent_data,8192)).
state(5,k(258,extent_data,8192),end,12288).
change(5,k(258,extent_data,8192),object,null,present).
expect(25, 5, k(257,extent_data,0)).
expect(25, 5, k(258,extent_data,8192)).

% A symbolic link loses its target.
object(5,k(259,inode_item,0)).
state(5,k(259,inode_item,0),f(mode,s_ifmt),s_iflnk).
state(5,k(259,inode_item,0),nlink,1).
state(5,k(259,inode_item,0),size,6).
change(5,k(259,extent_data,0),object,present,null).
expect(25, 5, k(259,extent_data,0)).

% A file becomes longer by a byte; a new one is a byte long, and has no data.
object(5,k(260,inode_item,0)).
state(5,k(260,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(5,k(260,inode_item,0),nlink,1).
state(5,k(260,inode_item,0),size,4097).
object(5,k(260,extent_data,0)).
state(5,k(260,extent_data,0),end,4096).
change(5,k(260,inode_item,0),object,present,present).
change(5,k(260,inode_item,0),size,4096,4097).
change(5,k(261,inode_item,0),object,null,present).
change(5,k(261,inode_item,0),f(mode,s_ifmt),null,s_ifreg).
change(5,k(261,inode_item,0),nlink,null,1).
change(5,k(261,inode_item,0),size,null,1).
object(5,k(261,inode_item,0)).
state(5,k(261,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(5,k(261,inode_item,0),nlink,1).
state(5,k(261,inode_item,0),size,1).
expect(25, 5, k(260,inode_item,0)).
expect(25, 5, k(261,inode_item,0)).

% A file grows into preallocated space by its last byte, with a gap before it.
object(5,k(262,inode_item,0)).
state(5,k(262,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(5,k(262,inode_item,0),nlink,1).
state(5,k(262,inode_item,0),size,12289).
object(5,k(262,extent_data,0)).
state(5,k(262,extent_data,0),end,4096).
object(5,k(262,extent_data,12288)).
state(5,k(262,extent_data,12288),end,16384).
change(5,k(262,inode_item,0),object,present,present).
change(5,k(262,inode_item,0),size,4096,12289).
expect(25, 5, k(262,extent_data,12288)).
