% A file and a symbolic link have data, a pipe without data is created, and a link gets its target.
rule(20).
change(5,k(257,inode_item,0),object,null,present).
change(5,k(257,inode_item,0),f(mode,s_ifmt),null,s_ifreg).
object(5,k(257,inode_item,0)).
state(5,k(257,inode_item,0),f(mode,s_ifmt),s_ifreg).
object(5,k(257,extent_data,0)).
change(5,k(258,inode_item,0),object,null,present).
change(5,k(258,inode_item,0),f(mode,s_ifmt),null,s_iflnk).
object(5,k(258,inode_item,0)).
state(5,k(258,inode_item,0),f(mode,s_ifmt),s_iflnk).
change(5,k(258,extent_data,0),object,null,present).
object(5,k(258,extent_data,0)).
change(5,k(259,inode_item,0),object,null,present).
change(5,k(259,inode_item,0),f(mode,s_ifmt),null,s_ififo).
object(5,k(259,inode_item,0)).
state(5,k(259,inode_item,0),f(mode,s_ifmt),s_ififo).
expect_none.
