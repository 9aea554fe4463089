% An entry of a file has the type of a directory.
rule(16).
change(5,k(256,dir_index,2),object,null,present).
change(5,k(256,dir_index,2),location,null,k(257,inode_item,0)).
change(5,k(256,dir_index,2),type,null,s_ifdir).
object(5,k(256,dir_index,2)).
state(5,k(256,dir_index,2),location,k(257,inode_item,0)).
state(5,k(256,dir_index,2),type,s_ifdir).
object(5,k(257,inode_item,0)).
state(5,k(257,inode_item,0),f(mode,s_ifmt),s_ifreg).
expect(16, 5, k(256,dir_index,2)).
