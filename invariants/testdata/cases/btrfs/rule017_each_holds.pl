% A name that does not fit into an inode_ref. The root directory is its own parent, with a name that
% has no entries.
rule(17).
object(5,k(256,inode_item,0)).
state(5,k(256,inode_item,0),nlink,1).
change(5,k(257,inode_extref,a(256,2)),object,null,present).
change(5,k(257,inode_extref,a(256,2)),name,null,'a').
change(5,k(257,inode_extref,a(256,2)),link,null,k(257,inode_item,97)).
object(5,k(257,inode_extref,a(256,2))).
state(5,k(257,inode_extref,a(256,2)),name,'a').
state(5,k(257,inode_extref,a(256,2)),link,k(257,inode_item,97)).
change(5,k(256,dir_index,2),object,null,present).
change(5,k(256,dir_index,2),name,null,'a').
change(5,k(256,dir_index,2),location,null,k(257,inode_item,0)).
change(5,k(256,dir_index,2),link,null,k(257,inode_item,97)).
object(5,k(256,dir_index,2)).
state(5,k(256,dir_index,2),name,'a').
state(5,k(256,dir_index,2),location,k(257,inode_item,0)).
state(5,k(256,dir_index,2),link,k(257,inode_item,97)).
change(5,k(256,dir_item,3427024844),object,null,present).
change(5,k(256,dir_item,3427024844),name,null,'a').
change(5,k(256,dir_item,3427024844),location,null,k(257,inode_item,0)).
change(5,k(256,dir_item,3427024844),link,null,k(257,inode_item,97)).
object(5,k(256,dir_item,3427024844)).
state(5,k(256,dir_item,3427024844),name,'a').
state(5,k(256,dir_item,3427024844),location,k(257,inode_item,0)).
state(5,k(256,dir_item,3427024844),link,k(257,inode_item,97)).
change(5,k(256,inode_ref,a(256,0)),object,null,present).
change(5,k(256,inode_ref,a(256,0)),name,null,'..').
change(5,k(256,inode_ref,a(256,0)),link,null,k(256,inode_item,46)).
object(5,k(256,inode_ref,a(256,0))).
state(5,k(256,inode_ref,a(256,0)),name,'..').
state(5,k(256,inode_ref,a(256,0)),link,k(256,inode_item,46)).

% Entries of a directory without a name are written again; the inode no longer has a record of the
% name.
object(5,k(258,inode_item,0)).
state(5,k(258,inode_item,0),nlink,0).
change(5,k(258,dir_index,3),object,present,present).
change(5,k(258,dir_index,3),transid,8,9).
object(5,k(258,dir_index,3)).
state(5,k(258,dir_index,3),transid,9).
state(5,k(258,dir_index,3),name,'b').
state(5,k(258,dir_index,3),location,k(259,inode_item,0)).
state(5,k(258,dir_index,3),link,k(259,inode_item,98)).
change(5,k(258,dir_item,3742682168),object,present,present).
change(5,k(258,dir_item,3742682168),transid,8,9).
object(5,k(258,dir_item,3742682168)).
state(5,k(258,dir_item,3742682168),transid,9).
state(5,k(258,dir_item,3742682168),name,'b').
state(5,k(258,dir_item,3742682168),location,k(259,inode_item,0)).
state(5,k(258,dir_item,3742682168),link,k(259,inode_item,98)).

% The inode of a subvolume's entry is in another tree.
change(5,k(256,dir_index,4),object,null,present).
change(5,k(256,dir_index,4),link,null,k(300,root_item,99)).
object(5,k(256,dir_index,4)).
state(5,k(256,dir_index,4),link,k(300,root_item,99)).
expect_none.
