% A file becomes a symbolic link.
rule(30).
object(inode,20).
state(inode,20,f(mode,s_ifmt),s_iflnk).
state(inode,20,links_count,1).
change(inode,20,object,present,present).
change(inode,20,size,200,5).
change(inode,20,f(mode,s_ifmt),s_ifreg,s_iflnk).
object(superblock,0).
state(superblock,0,first_ino,11).
expect_none.
