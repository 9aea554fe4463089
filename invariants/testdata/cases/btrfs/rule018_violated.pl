% The entries of a name are removed, and the inode keeps its record of the name.
rule(18).
change(5,k(256,dir_index,2),object,present,null).
change(5,k(256,dir_index,2),name,'a',null).
change(5,k(256,dir_index,2),location,k(257,inode_item,0),null).
change(5,k(256,dir_item,3427024844),object,present,null).
change(5,k(256,dir_item,3427024844),name,'a',null).
change(5,k(256,dir_item,3427024844),location,k(257,inode_item,0),null).

object(5,k(257,inode_ref,a(256,2))).
state(5,k(257,inode_ref,a(256,2)),name,'a').
state(5,k(257,inode_ref,a(256,2)),link,k(257,inode_item,97)).
expect(18, 5, k(257,inode_ref,a(256,2))).
