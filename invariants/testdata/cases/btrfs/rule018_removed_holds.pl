% A directory is removed with its content. A dir_index is still there, and will be removed with the
% items of the directory's inode.
rule(18).
change(5,k(300,inode_ref,a(260,8)),object,present,null).
change(5,k(300,inode_ref,a(260,8)),name,'f18',null).
change(5,k(260,inode_item,0),nlink,1,0).
object(5,k(260,inode_item,0)).
state(5,k(260,inode_item,0),nlink,0).
object(5,k(260,dir_index,8)).
state(5,k(260,dir_index,8),link,k(300,inode_item,0)).
state(5,k(260,dir_index,8),name,'f18').
expect_none.
