% The dir_index has another name than the dir_item and the inode_ref.
rule(17).
change(5,k(256,dir_item,3427024844),object,null,present).
change(5,k(256,dir_index,2),object,null,present).
change(5,k(257,inode_ref,a(256,2)),object,null,present).
object(5,k(256,dir_item,3427024844)).
state(5,k(256,dir_item,3427024844),name,'a').
state(5,k(256,dir_item,3427024844),location,k(257,inode_item,0)).
state(5,k(256,dir_item,3427024844),link,k(257,inode_item,97)).
object(5,k(256,dir_index,2)).
state(5,k(256,dir_index,2),name,'b').
state(5,k(256,dir_index,2),link,k(257,inode_item,98)).
state(5,k(256,dir_index,2),location,k(257,inode_item,0)).
object(5,k(257,inode_ref,a(256,2))).
state(5,k(257,inode_ref,a(256,2)),name,'a').
state(5,k(257,inode_ref,a(256,2)),link,k(257,inode_item,97)).
state(5,k(256,inode_item,0),nlink,1).
object(5,k(256,inode_item,0)).
expect(17, 5, k(256,dir_index,2)).
expect(17, 5, k(256,dir_item,3427024844)).
expect(17, 5, k(257,inode_ref,a(256,2))).
