% A directory grows by one of the two records of a name.
rule(15).
change(5,k(256,inode_item,0),object,present,present).
change(5,k(256,inode_item,0),size,10,13).
change(5,k(256,dir_item,77),object,null,present).
change(5,k(256,dir_item,77),name_len,null,3).
change(5,k(256,dir_index,9),object,null,present).
change(5,k(256,dir_index,9),name_len,null,3).
object(5,k(256,inode_item,0)).
state(5,k(256,inode_item,0),f(mode,s_ifmt),s_ifdir).
state(5,k(256,inode_item,0),nlink,1).
expect(15, 5, k(256,inode_item,0)).
