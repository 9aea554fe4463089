% Only nbytes changes; or only the extents: one is added, one is removed, one grows.
rule(24).
change(5,k(257,inode_item,0),object,present,present).
change(5,k(257,inode_item,0),nbytes,0,4096).
object(5,k(257,inode_item,0)).
state(5,k(257,inode_item,0),nbytes,4096).
state(5,k(257,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(5,k(257,inode_item,0),nlink,1).
object(5,k(258,inode_item,0)).
state(5,k(258,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(5,k(258,inode_item,0),nlink,1).
change(5,k(258,extent_data,0),object,null,present).
change(5,k(258,extent_data,0),nbytes,null,4096).
object(5,k(258,extent_data,0)).
state(5,k(258,extent_data,0),nbytes,4096).
object(5,k(259,inode_item,0)).
state(5,k(259,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(5,k(259,inode_item,0),nlink,1).
change(5,k(259,extent_data,0),object,present,null).
change(5,k(259,extent_data,0),nbytes,4096,null).
object(5,k(260,inode_item,0)).
state(5,k(260,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(5,k(260,inode_item,0),nlink,1).
change(5,k(260,extent_data,0),object,present,present).
change(5,k(260,extent_data,0),nbytes,4096,8192).
object(5,k(260,extent_data,0)).
state(5,k(260,extent_data,0),nbytes,8192).
expect(24, 5, k(257,inode_item,0)).
expect(24, 5, k(258,inode_item,0)).
expect(24, 5, k(259,inode_item,0)).
expect(24, 5, k(260,inode_item,0)).
