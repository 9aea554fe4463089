% A name moves from an inode_ref to an inode_extref. A file is renamed to the same name and gets
% another index.
rule(18).
change(5,k(257,inode_ref,a(256,2)),object,present,null).
change(5,k(257,inode_ref,a(256,2)),name,'a',null).
change(5,k(257,inode_ref,a(256,2)),link,k(257,inode_item,97),null).
object(5,k(257,inode_extref,a(256,2))).
state(5,k(257,inode_extref,a(256,2)),name,'a').
state(5,k(257,inode_extref,a(256,2)),link,k(257,inode_item,97)).
object(5,k(256,dir_index,2)).
state(5,k(256,dir_index,2),name,'a').
state(5,k(256,dir_index,2),location,k(257,inode_item,0)).
state(5,k(256,dir_index,2),link,k(257,inode_item,97)).
object(5,k(256,dir_item,3427024844)).
state(5,k(256,dir_item,3427024844),name,'a').
state(5,k(256,dir_item,3427024844),location,k(257,inode_item,0)).
state(5,k(256,dir_item,3427024844),link,k(257,inode_item,97)).
change(5,k(257,inode_extref,a(256,2)),object,null,present).
change(5,k(257,inode_extref,a(256,2)),name,null,'a').
change(5,k(258,inode_ref,a(256,3)),object,present,null).
change(5,k(258,inode_ref,a(256,3)),name,'b',null).
change(5,k(258,inode_ref,a(256,3)),link,k(258,inode_item,98),null).
change(5,k(256,dir_index,3),object,present,null).
change(5,k(256,dir_index,3),name,'b',null).
change(5,k(256,dir_index,3),location,k(258,inode_item,0),null).
change(5,k(256,dir_index,3),link,k(258,inode_item,98),null).
object(5,k(258,inode_ref,a(256,4))).
state(5,k(258,inode_ref,a(256,4)),name,'b').
state(5,k(258,inode_ref,a(256,4)),link,k(258,inode_item,98)).
object(5,k(256,dir_index,4)).
state(5,k(256,dir_index,4),name,'b').
state(5,k(256,dir_index,4),location,k(258,inode_item,0)).
state(5,k(256,dir_index,4),link,k(258,inode_item,98)).
object(5,k(256,dir_item,3742682168)).
state(5,k(256,dir_item,3742682168),name,'b').
state(5,k(256,dir_item,3742682168),location,k(258,inode_item,0)).
state(5,k(256,dir_item,3742682168),link,k(258,inode_item,98)).

% A name is removed of a file that has other names in the directory.
change(5,k(259,inode_ref,a(256,5)),object,present,null).
change(5,k(259,inode_ref,a(256,5)),name,'c',null).
change(5,k(259,inode_ref,a(256,5)),link,k(259,inode_item,99),null).
change(5,k(256,dir_index,5),object,present,null).
change(5,k(256,dir_index,5),name,'c',null).
change(5,k(256,dir_index,5),location,k(259,inode_item,0),null).
change(5,k(256,dir_index,5),link,k(259,inode_item,99),null).
change(5,k(256,dir_item,763318075),object,present,null).
change(5,k(256,dir_item,763318075),name,'c',null).
change(5,k(256,dir_item,763318075),location,k(259,inode_item,0),null).
change(5,k(256,dir_item,763318075),link,k(259,inode_item,99),null).
object(5,k(259,inode_ref,a(256,6))).
state(5,k(259,inode_ref,a(256,6)),name,'d').
state(5,k(259,inode_ref,a(256,6)),link,k(259,inode_item,100)).
object(5,k(256,dir_index,6)).
state(5,k(256,dir_index,6),name,'d').
state(5,k(256,dir_index,6),location,k(259,inode_item,0)).
state(5,k(256,dir_index,6),link,k(259,inode_item,100)).
object(5,k(256,dir_item,4189400016)).
state(5,k(256,dir_item,4189400016),name,'d').
state(5,k(256,dir_item,4189400016),location,k(259,inode_item,0)).
state(5,k(256,dir_item,4189400016),link,k(259,inode_item,100)).

% The index of a name is given to another file.
change(5,k(260,inode_ref,a(256,7)),object,present,null).
change(5,k(260,inode_ref,a(256,7)),name,'e',null).
change(5,k(260,inode_ref,a(256,7)),link,k(260,inode_item,101),null).
change(5,k(256,dir_index,7),object,present,null).
change(5,k(256,dir_index,7),name,'e',null).
change(5,k(256,dir_index,7),location,k(260,inode_item,0),null).
change(5,k(256,dir_index,7),link,k(260,inode_item,101),null).
change(5,k(256,dir_item,199141587),object,present,null).
change(5,k(256,dir_item,199141587),name,'e',null).
change(5,k(256,dir_item,199141587),location,k(260,inode_item,0),null).
change(5,k(256,dir_item,199141587),link,k(260,inode_item,101),null).
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

% A second dir_item of a name, under a wrong hash, is removed.
object(5,k(262,inode_ref,a(256,8))).
state(5,k(262,inode_ref,a(256,8)),name,'g').
state(5,k(262,inode_ref,a(256,8)),link,k(262,inode_item,103)).
object(5,k(256,dir_index,8)).
state(5,k(256,dir_index,8),name,'g').
state(5,k(256,dir_index,8),location,k(262,inode_item,0)).
state(5,k(256,dir_index,8),link,k(262,inode_item,103)).
object(5,k(256,dir_item,3940931620)).
state(5,k(256,dir_item,3940931620),name,'g').
state(5,k(256,dir_item,3940931620),location,k(262,inode_item,0)).
state(5,k(256,dir_item,3940931620),link,k(262,inode_item,103)).
change(5,k(256,dir_item,5),object,present,null).
change(5,k(256,dir_item,5),name,'g',null).
change(5,k(256,dir_item,5),location,k(262,inode_item,0),null).
change(5,k(256,dir_item,5),link,k(262,inode_item,103),null).

% A name is removed of a file whose other name had no dir_index before.
change(5,k(264,inode_ref,a(256,10)),object,present,null).
change(5,k(264,inode_ref,a(256,10)),name,'i',null).
change(5,k(264,inode_ref,a(256,10)),link,k(264,inode_item,104),null).
change(5,k(256,dir_index,10),object,present,null).
change(5,k(256,dir_index,10),name,'i',null).
change(5,k(256,dir_index,10),location,k(264,inode_item,0),null).
change(5,k(256,dir_index,10),link,k(264,inode_item,104),null).
change(5,k(256,dir_item,1184720643),object,present,null).
change(5,k(256,dir_item,1184720643),name,'i',null).
change(5,k(256,dir_item,1184720643),location,k(264,inode_item,0),null).
change(5,k(256,dir_item,1184720643),link,k(264,inode_item,104),null).
object(5,k(264,inode_ref,a(256,11))).
state(5,k(264,inode_ref,a(256,11)),name,'j').
state(5,k(264,inode_ref,a(256,11)),link,k(264,inode_item,105)).
object(5,k(256,dir_item,1439536375)).
state(5,k(256,dir_item,1439536375),name,'j').
state(5,k(256,dir_item,1439536375),location,k(264,inode_item,0)).
state(5,k(256,dir_item,1439536375),link,k(264,inode_item,105)).

% The name of a subvolume is removed; the name of an inode with the same number stays.
change(5,k(256,dir_index,9),object,present,null).
change(5,k(256,dir_index,9),location,k(263,root_item,-1),null).
change(5,k(256,dir_index,9),name,'h',null).
object(5,k(263,inode_ref,a(256,9))).
state(5,k(263,inode_ref,a(256,9)),name,'h').

% The log is no file tree. It has the records of a name, and lost an entry.
change(-6,k(256,dir_index,12),object,present,null).
change(-6,k(256,dir_index,12),location,k(265,inode_item,0),null).
change(-6,k(256,dir_index,12),name,'k',null).
object(-6,k(265,inode_ref,a(256,12))).
state(-6,k(265,inode_ref,a(256,12)),name,'k').

% A name moves from an inode_extref to an inode_ref.
change(5,k(265,inode_extref,a(256,12)),object,present,null).
change(5,k(265,inode_extref,a(256,12)),name,'k',null).
object(5,k(265,inode_ref,a(256,12))).
state(5,k(265,inode_ref,a(256,12)),name,'k').
state(5,k(265,inode_ref,a(256,12)),link,k(265,inode_item,107)).
object(5,k(256,dir_index,12)).
state(5,k(256,dir_index,12),name,'k').
state(5,k(256,dir_index,12),location,k(265,inode_item,0)).
state(5,k(256,dir_index,12),link,k(265,inode_item,107)).

% Trees that are not file trees have no names.
change(4,k(266,inode_ref,a(256,13)),object,present,null).
change(4,k(266,inode_ref,a(256,13)),name,'a',null).
object(4,k(256,dir_item,3427024844)).
state(4,k(256,dir_item,3427024844),name,'a').
state(4,k(256,dir_item,3427024844),location,k(266,inode_item,0)).
state(4,k(256,dir_item,3427024844),link,k(266,inode_item,97)).
% A file is renamed over another, whose name it takes. The entry leads to the file.
change(5,k(266,inode_ref,a(256,13)),object,present,null).
change(5,k(266,inode_ref,a(256,13)),name,'l',null).
change(5,k(266,inode_ref,a(256,13)),link,k(266,inode_item,108),null).
change(5,k(256,dir_index,13),object,present,null).
change(5,k(256,dir_index,13),name,'l',null).
change(5,k(256,dir_index,13),location,k(266,inode_item,0),null).
change(5,k(256,dir_index,13),link,k(266,inode_item,108),null).
change(5,k(256,dir_item,1936487199),location,k(266,inode_item,0),k(267,inode_item,0)).
change(5,k(256,dir_item,1936487199),link,k(266,inode_item,108),k(267,inode_item,108)).
object(5,k(256,dir_item,1936487199)).
state(5,k(256,dir_item,1936487199),name,'l').
state(5,k(256,dir_item,1936487199),location,k(267,inode_item,0)).
state(5,k(256,dir_item,1936487199),link,k(267,inode_item,108)).
object(5,k(256,dir_index,14)).
state(5,k(256,dir_index,14),name,'l').
state(5,k(256,dir_index,14),location,k(267,inode_item,0)).
state(5,k(256,dir_index,14),link,k(267,inode_item,108)).
object(5,k(267,inode_ref,a(256,14))).
state(5,k(267,inode_ref,a(256,14)),name,'l').
state(5,k(267,inode_ref,a(256,14)),link,k(267,inode_item,108)).
expect_none.
