% The extents change, and nbytes does not.
rule(24).
change(5,k(257,inode_item,0),object,present,present).
change(5,k(257,inode_item,0),nbytes,8192,8192).
change(5,k(257,extent_data,0),object,present,present).
change(5,k(257,extent_data,0),nbytes,8192,4096).
change(5,k(257,extent_data,4096),object,null,present).
change(5,k(257,extent_data,4096),nbytes,null,12288).
object(5,k(257,inode_item,0)).
state(5,k(257,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(5,k(257,inode_item,0),nlink,1).
expect(24, 5, k(257,inode_item,0)).
