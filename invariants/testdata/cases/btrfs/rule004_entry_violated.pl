% The entry of a subvolume by index gets another name; that of a file in the same directory is
% written again.
rule(4).
object(1,k(300,root_item,0)).
state(1,k(300,root_item,0),refs,1).
object(1,k(5,root_ref,300)).
state(1,k(5,root_ref,300),dirid,256).
state(1,k(5,root_ref,300),sequence,2).
state(1,k(5,root_ref,300),name,'a').
state(1,k(5,root_ref,300),link,k(300,root_item,97)).
object(1,k(300,root_backref,5)).
state(1,k(300,root_backref,5),dirid,256).
state(1,k(300,root_backref,5),sequence,2).
state(1,k(300,root_backref,5),name,'a').
state(1,k(300,root_backref,5),link,k(300,root_item,97)).
object(5,k(256,dir_item,3427024844)).
state(5,k(256,dir_item,3427024844),link,k(300,root_item,97)).
state(5,k(256,dir_item,3427024844),type,s_ifdir).
change(5,k(256,dir_index,2),object,present,present).
change(5,k(256,dir_index,2),link,k(300,root_item,97),k(300,root_item,98)).
object(5,k(256,dir_index,2)).
state(5,k(256,dir_index,2),link,k(300,root_item,98)).
change(5,k(256,dir_index,7),object,present,present).
change(5,k(256,dir_index,7),transid,8,9).
object(5,k(256,dir_index,7)).
state(5,k(256,dir_index,7),transid,9).
state(5,k(256,dir_index,7),link,k(270,inode_item,98)).
expect(4, 5, k(256,dir_index,2)).

% The entry by hash of another subvolume is removed, in another directory.
object(1,k(301,root_item,0)).
state(1,k(301,root_item,0),refs,1).
object(1,k(5,root_ref,301)).
state(1,k(5,root_ref,301),dirid,257).
state(1,k(5,root_ref,301),sequence,2).
state(1,k(5,root_ref,301),name,'a').
state(1,k(5,root_ref,301),link,k(301,root_item,97)).
object(1,k(301,root_backref,5)).
state(1,k(301,root_backref,5),dirid,257).
state(1,k(301,root_backref,5),sequence,2).
state(1,k(301,root_backref,5),name,'a').
state(1,k(301,root_backref,5),link,k(301,root_item,97)).
object(5,k(257,dir_index,2)).
state(5,k(257,dir_index,2),link,k(301,root_item,97)).
state(5,k(257,dir_index,2),type,s_ifdir).
change(5,k(257,dir_item,3427024844),object,present,null).
change(5,k(257,dir_item,3427024844),location,k(301,root_item,-1),null).
change(5,k(257,dir_item,3427024844),link,k(301,root_item,97),null).
expect(4, 1, k(5,root_ref,301)).

% An entry of the first subvolume in another directory, such as a snapshot copies, is removed; and
% the entry of a file.
change(5,k(258,dir_item,3427024844),object,present,null).
change(5,k(258,dir_item,3427024844),location,k(302,root_item,-1),null).
object(1,k(5,root_ref,302)).
state(1,k(5,root_ref,302),dirid,259).
change(5,k(256,dir_index,8),object,present,null).
change(5,k(256,dir_index,8),location,k(271,inode_item,0),null).

% A correct entry of a subvolume is written again. Another subvolume is renamed and keeps its index.
object(1,k(303,root_item,0)).
state(1,k(303,root_item,0),refs,1).
object(1,k(5,root_ref,303)).
state(1,k(5,root_ref,303),dirid,260).
state(1,k(5,root_ref,303),sequence,2).
state(1,k(5,root_ref,303),name,'a').
state(1,k(5,root_ref,303),link,k(303,root_item,97)).
object(1,k(303,root_backref,5)).
state(1,k(303,root_backref,5),dirid,260).
state(1,k(303,root_backref,5),sequence,2).
state(1,k(303,root_backref,5),name,'a').
state(1,k(303,root_backref,5),link,k(303,root_item,97)).
object(5,k(260,dir_index,2)).
state(5,k(260,dir_index,2),link,k(303,root_item,97)).
state(5,k(260,dir_index,2),type,s_ifdir).
object(5,k(260,dir_item,3427024844)).
state(5,k(260,dir_item,3427024844),link,k(303,root_item,97)).
state(5,k(260,dir_item,3427024844),type,s_ifdir).
change(5,k(260,dir_index,2),object,present,present).
change(5,k(260,dir_index,2),transid,8,9).
state(5,k(260,dir_index,2),transid,9).
object(1,k(304,root_item,0)).
state(1,k(304,root_item,0),refs,1).
object(1,k(5,root_ref,304)).
state(1,k(5,root_ref,304),dirid,261).
state(1,k(5,root_ref,304),sequence,3).
state(1,k(5,root_ref,304),name,'b').
state(1,k(5,root_ref,304),link,k(304,root_item,98)).
object(1,k(304,root_backref,5)).
state(1,k(304,root_backref,5),dirid,261).
state(1,k(304,root_backref,5),sequence,3).
state(1,k(304,root_backref,5),name,'b').
state(1,k(304,root_backref,5),link,k(304,root_item,98)).
object(5,k(261,dir_index,3)).
state(5,k(261,dir_index,3),link,k(304,root_item,98)).
state(5,k(261,dir_index,3),type,s_ifdir).
object(5,k(261,dir_item,3742682168)).
state(5,k(261,dir_item,3742682168),link,k(304,root_item,98)).
state(5,k(261,dir_item,3742682168),type,s_ifdir).
change(5,k(261,dir_item,3427024844),object,present,null).
change(5,k(261,dir_item,3427024844),location,k(304,root_item,-1),null).

% Two entries of a subvolume are added with its index and with the hash of its name; other entries
% are added with another index and another hash.
object(1,k(305,root_item,0)).
state(1,k(305,root_item,0),refs,1).
object(1,k(5,root_ref,305)).
state(1,k(5,root_ref,305),dirid,262).
state(1,k(5,root_ref,305),sequence,4).
state(1,k(5,root_ref,305),name,'c').
state(1,k(5,root_ref,305),link,k(305,root_item,99)).
object(1,k(305,root_backref,5)).
state(1,k(305,root_backref,5),dirid,262).
state(1,k(305,root_backref,5),sequence,4).
state(1,k(305,root_backref,5),name,'c').
state(1,k(305,root_backref,5),link,k(305,root_item,99)).
object(5,k(262,dir_index,4)).
state(5,k(262,dir_index,4),link,k(305,root_item,99)).
state(5,k(262,dir_index,4),type,s_ifdir).
object(5,k(262,dir_item,763318075)).
state(5,k(262,dir_item,763318075),link,k(305,root_item,99)).
state(5,k(262,dir_item,763318075),type,s_ifdir).
change(5,k(262,dir_index,4),object,null,present).
change(5,k(262,dir_index,4),location,null,k(305,root_item,-1)).
change(5,k(262,dir_item,763318075),object,null,present).
change(5,k(262,dir_item,763318075),location,null,k(305,root_item,-1)).
change(5,k(262,dir_index,5),object,null,present).
change(5,k(262,dir_index,5),location,null,k(305,root_item,-1)).
object(5,k(262,dir_index,5)).
state(5,k(262,dir_index,5),location,k(305,root_item,-1)).
change(5,k(262,dir_item,5),object,null,present).
change(5,k(262,dir_item,5),location,null,k(305,root_item,-1)).
object(5,k(262,dir_item,5)).
state(5,k(262,dir_item,5),location,k(305,root_item,-1)).
change(5,k(263,dir_index,4),object,null,present).
change(5,k(263,dir_index,4),location,null,k(305,root_item,-1)).
object(5,k(263,dir_index,4)).
state(5,k(263,dir_index,4),location,k(305,root_item,-1)).
change(5,k(263,dir_item,763318075),object,null,present).
change(5,k(263,dir_item,763318075),location,null,k(305,root_item,-1)).
object(5,k(263,dir_item,763318075)).
state(5,k(263,dir_item,763318075),location,k(305,root_item,-1)).
expect(4, 5, k(262,dir_index,5)).
expect(4, 5, k(262,dir_item,5)).
expect(4, 5, k(263,dir_index,4)).
expect(4, 5, k(263,dir_item,763318075)).
