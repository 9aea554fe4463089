% A hole is punched into a file, and no file extent stands for it.
rule(25).
change(5,k(257,extent_data,4096),object,present,null).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),f(incompat_flags,no_holes),0).
object(5,k(257,inode_item,0)).
state(5,k(257,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(5,k(257,inode_item,0),nlink,1).
state(5,k(257,inode_item,0),size,8192).
object(5,k(257,extent_data,0)).
state(5,k(257,extent_data,0),end,4096).
expect(25, 5, k(257,extent_data,4096)).
