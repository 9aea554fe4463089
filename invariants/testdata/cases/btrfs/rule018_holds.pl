% A name is removed with its three records.
rule(18).
change(5,k(256,dir_index,2),object,present,null).
change(5,k(256,dir_index,2),name,'a',null).
change(5,k(256,dir_index,2),location,k(257,inode_item,0),null).
change(5,k(256,dir_item,3427024844),object,present,null).
change(5,k(256,dir_item,3427024844),name,'a',null).
change(5,k(256,dir_item,3427024844),location,k(257,inode_item,0),null).

change(5,k(257,inode_ref,a(256,2)),object,present,null).
change(5,k(257,inode_ref,a(256,2)),name,'a',null).
expect_none.
