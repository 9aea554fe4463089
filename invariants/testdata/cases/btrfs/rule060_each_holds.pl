% A file for the free space cache is created. The root tree has a directory, 6.
rule(60).
change(1,k(256,inode_item,0),object,null,present).
change(1,k(256,inode_item,0),f(mode,s_ifmt),null,s_ifreg).
change(1,k(256,inode_item,0),f(mode,perm),null,384).
object(1,k(256,inode_item,0)).
state(1,k(256,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(1,k(256,inode_item,0),f(mode,perm),384).
change(1,k(6,inode_item,0),object,null,present).
change(1,k(6,inode_item,0),f(mode,s_ifmt),null,s_ifdir).
change(1,k(6,inode_item,0),f(mode,perm),null,493).
object(1,k(6,inode_item,0)).
state(1,k(6,inode_item,0),f(mode,s_ifmt),s_ifdir).
state(1,k(6,inode_item,0),f(mode,perm),493).
expect_none.
