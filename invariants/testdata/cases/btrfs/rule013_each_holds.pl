% A directory and a file are created, and a file gets data. Rule 12, not this one, judges entries
% without an inode. An empty directory becomes a file.
rule(13).
change(5,k(257,inode_item,0),object,null,present).
change(5,k(257,inode_item,0),f(mode,s_ifmt),null,s_ifdir).
object(5,k(257,inode_item,0)).
state(5,k(257,inode_item,0),f(mode,s_ifmt),s_ifdir).
object(5,k(257,dir_index,2)).
change(5,k(258,inode_item,0),object,null,present).
change(5,k(258,inode_item,0),f(mode,s_ifmt),null,s_ifreg).
object(5,k(258,inode_item,0)).
state(5,k(258,inode_item,0),f(mode,s_ifmt),s_ifreg).
change(5,k(258,extent_data,0),object,null,present).
object(5,k(258,extent_data,0)).
change(5,k(259,dir_index,2),object,null,present).
object(5,k(259,dir_index,2)).
change(5,k(260,inode_item,0),object,present,null).
change(5,k(260,inode_item,0),f(mode,s_ifmt),s_ifdir,null).
object(5,k(260,dir_index,2)).
change(5,k(261,inode_item,0),object,present,present).
change(5,k(261,inode_item,0),f(mode,s_ifmt),s_ifdir,s_ifreg).
object(5,k(261,inode_item,0)).
state(5,k(261,inode_item,0),f(mode,s_ifmt),s_ifreg).
expect_none.
