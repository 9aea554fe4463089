% One record of a name is removed alone: the dir_index, while the inode has its name in an inode_ref
% or in an inode_extref;
rule(18).
object(5,k(257,inode_ref,a(256,2))).
state(5,k(257,inode_ref,a(256,2)),name,'a').
state(5,k(257,inode_ref,a(256,2)),link,k(257,inode_item,97)).
object(5,k(256,dir_item,3427024844)).
state(5,k(256,dir_item,3427024844),name,'a').
state(5,k(256,dir_item,3427024844),location,k(257,inode_item,0)).
state(5,k(256,dir_item,3427024844),link,k(257,inode_item,97)).
change(5,k(256,dir_index,2),object,present,null).
change(5,k(256,dir_index,2),name,'a',null).
change(5,k(256,dir_index,2),location,k(257,inode_item,0),null).
change(5,k(256,dir_index,2),link,k(257,inode_item,97),null).
object(5,k(258,inode_extref,a(256,3))).
state(5,k(258,inode_extref,a(256,3)),name,'b').
state(5,k(258,inode_extref,a(256,3)),link,k(258,inode_item,98)).
object(5,k(256,dir_item,3742682168)).
state(5,k(256,dir_item,3742682168),name,'b').
state(5,k(256,dir_item,3742682168),location,k(258,inode_item,0)).
state(5,k(256,dir_item,3742682168),link,k(258,inode_item,98)).
change(5,k(256,dir_index,3),object,present,null).
change(5,k(256,dir_index,3),name,'b',null).
change(5,k(256,dir_index,3),location,k(258,inode_item,0),null).
change(5,k(256,dir_index,3),link,k(258,inode_item,98),null).
expect(18, 5, k(257,inode_ref,a(256,2))).
expect(18, 5, k(258,inode_extref,a(256,3))).

% the record of the inode;
object(5,k(256,dir_index,4)).
state(5,k(256,dir_index,4),name,'c').
state(5,k(256,dir_index,4),location,k(259,inode_item,0)).
state(5,k(256,dir_index,4),link,k(259,inode_item,99)).
change(5,k(259,inode_ref,a(256,4)),object,present,null).
change(5,k(259,inode_ref,a(256,4)),name,'c',null).
change(5,k(259,inode_ref,a(256,4)),link,k(259,inode_item,99),null).
object(5,k(256,dir_item,4189400016)).
state(5,k(256,dir_item,4189400016),name,'d').
state(5,k(256,dir_item,4189400016),location,k(260,inode_item,0)).
state(5,k(256,dir_item,4189400016),link,k(260,inode_item,100)).
change(5,k(260,inode_ref,a(256,5)),object,present,null).
change(5,k(260,inode_ref,a(256,5)),name,'d',null).
change(5,k(260,inode_ref,a(256,5)),link,k(260,inode_item,100),null).
expect(18, 5, k(256,dir_index,4)).
expect(18, 5, k(256,dir_item,4189400016)).

% the dir_item, while the file has another name.
object(5,k(261,inode_ref,a(256,6))).
state(5,k(261,inode_ref,a(256,6)),name,'e').
state(5,k(261,inode_ref,a(256,6)),link,k(261,inode_item,101)).
object(5,k(256,dir_index,6)).
state(5,k(256,dir_index,6),name,'e').
state(5,k(256,dir_index,6),location,k(261,inode_item,0)).
state(5,k(256,dir_index,6),link,k(261,inode_item,101)).
change(5,k(256,dir_item,199141587),object,present,null).
change(5,k(256,dir_item,199141587),name,'e',null).
change(5,k(256,dir_item,199141587),location,k(261,inode_item,0),null).
change(5,k(256,dir_item,199141587),link,k(261,inode_item,101),null).
object(5,k(261,inode_ref,a(256,7))).
state(5,k(261,inode_ref,a(256,7)),name,'f').
state(5,k(261,inode_ref,a(256,7)),link,k(261,inode_item,102)).
object(5,k(256,dir_index,7)).
state(5,k(256,dir_index,7),name,'f').
state(5,k(256,dir_index,7),location,k(261,inode_item,0)).
state(5,k(256,dir_index,7),link,k(261,inode_item,102)).
object(5,k(256,dir_item,411982631)).
state(5,k(256,dir_item,411982631),name,'f').
state(5,k(256,dir_item,411982631),location,k(261,inode_item,0)).
state(5,k(256,dir_item,411982631),link,k(261,inode_item,102)).
expect(18, 5, k(261,inode_ref,a(256,6))).

% The entries of a name are removed, and its inode keeps it under another index.
change(5,k(256,dir_index,20),object,present,null).
change(5,k(256,dir_index,20),location,k(270,inode_item,0),null).
change(5,k(256,dir_index,20),name,'p',null).
change(5,k(256,dir_item,78),object,present,null).
change(5,k(256,dir_item,78),location,k(270,inode_item,0),null).
change(5,k(256,dir_item,78),name,'p',null).
object(5,k(270,inode_ref,a(256,21))).
state(5,k(270,inode_ref,a(256,21)),name,'p').
state(5,k(270,inode_ref,a(256,21)),link,k(270,inode_item,112)).
expect(18, 5, k(270,inode_ref,a(256,21))).
