% A name is removed with its entries, and its inode gets it again without entries. Rule 17 reports
% the added record too.
rule(18).
change(5,k(256,dir_index,2),object,present,null).
change(5,k(256,dir_index,2),location,k(257,inode_item,0),null).
change(5,k(256,dir_index,2),name,'a',null).
change(5,k(256,dir_item,3427024844),object,present,null).
change(5,k(256,dir_item,3427024844),location,k(257,inode_item,0),null).
change(5,k(256,dir_item,3427024844),name,'a',null).
change(5,k(257,inode_ref,a(256,2)),object,present,null).
change(5,k(257,inode_ref,a(256,2)),link,k(257,inode_item,97),null).
change(5,k(257,inode_ref,a(256,2)),name,'a',null).
change(5,k(257,inode_ref,a(256,1)),object,null,present).
change(5,k(257,inode_ref,a(256,1)),link,null,k(257,inode_item,97)).
change(5,k(257,inode_ref,a(256,1)),name,null,'a').
object(5,k(257,inode_ref,a(256,1))).
state(5,k(257,inode_ref,a(256,1)),link,k(257,inode_item,97)).
state(5,k(257,inode_ref,a(256,1)),name,'a').
expect(18, 5, k(257,inode_ref,a(256,1))).
