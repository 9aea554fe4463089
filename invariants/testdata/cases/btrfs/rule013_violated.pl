% A directory with an entry turns into a file.
rule(13).
change(5,k(257,inode_item,0),object,present,present).
change(5,k(257,inode_item,0),f(mode,s_ifmt),s_ifdir,s_ifreg).
object(5,k(257,inode_item,0)).
object(5,k(257,dir_index,2)).
state(5,k(257,inode_item,0),f(mode,s_ifmt),s_ifreg).
expect(13, 5, k(257,inode_item,0)).
