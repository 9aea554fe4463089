% A log has an entry with the type of a file, and the inode is a file.
rule(95).
change(-6,k(256,dir_index,2),object,null,present).
change(-6,k(256,dir_index,2),location,null,k(257,inode_item,0)).
change(-6,k(256,dir_index,2),type,null,s_ifreg).

object(-6,k(256,inode_item,0)).
state(-6,k(256,inode_item,0),f(mode,s_ifmt),s_ifdir).
object(-6,k(257,inode_item,0)).
state(-6,k(257,inode_item,0),f(mode,s_ifmt),s_ifreg).
object(-6,k(256,dir_index,2)).
state(-6,k(256,dir_index,2),location,k(257,inode_item,0)).
state(-6,k(256,dir_index,2),type,s_ifreg).
expect_none.
