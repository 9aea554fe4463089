% An extent is added that begins within the one before it.
rule(55).
object(5,k(257,inode_item,0)).
state(5,k(257,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(5,k(257,inode_item,0),nlink,1).
state(5,k(257,inode_item,0),size,12288).
object(5,k(257,extent_data,0)).
state(5,k(257,extent_data,0),end,8192).
object(5,k(257,extent_data,4096)).
state(5,k(257,extent_data,4096),end,12288).
change(5,k(257,extent_data,4096),object,null,present).
expect(55, 5, k(257,extent_data,4096)).

% A new file has two extents that overlap: the violation names the first.
change(5,k(258,inode_item,0),object,null,present).
change(5,k(258,inode_item,0),f(mode,s_ifmt),null,s_ifreg).
change(5,k(258,inode_item,0),nlink,null,1).
object(5,k(258,inode_item,0)).
state(5,k(258,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(5,k(258,inode_item,0),nlink,1).
change(5,k(258,extent_data,0),object,null,present).
change(5,k(258,extent_data,0),end,null,8192).
object(5,k(258,extent_data,0)).
state(5,k(258,extent_data,0),end,8192).
change(5,k(258,extent_data,4096),object,null,present).
change(5,k(258,extent_data,4096),end,null,8192).
object(5,k(258,extent_data,4096)).
state(5,k(258,extent_data,4096),end,8192).
expect(55, 5, k(258,extent_data,0)).

% A compressed inline extent grows by a byte, into the next extent.
object(5,k(259,inode_item,0)).
state(5,k(259,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(5,k(259,inode_item,0),nlink,1).
state(5,k(259,inode_item,0),size,8192).
object(5,k(259,extent_data,0)).
state(5,k(259,extent_data,0),end,4097).
object(5,k(259,extent_data,4096)).
state(5,k(259,extent_data,4096),end,8192).
change(5,k(259,extent_data,0),object,present,present).
expect(55, 5, k(259,extent_data,0)).
