% A subvolume is created, with its root item, both references and both entries.
rule(4).
change(1,k(300,root_item,0),object,null,present).
change(1,k(300,root_item,0),refs,null,1).
object(1,k(300,root_item,0)).
state(1,k(300,root_item,0),refs,1).
change(1,k(5,root_ref,300),object,null,present).
change(1,k(5,root_ref,300),dirid,null,256).
change(1,k(5,root_ref,300),sequence,null,2).
change(1,k(5,root_ref,300),name,null,'a').
change(1,k(5,root_ref,300),link,null,k(300,root_item,97)).
object(1,k(5,root_ref,300)).
state(1,k(5,root_ref,300),dirid,256).
state(1,k(5,root_ref,300),sequence,2).
state(1,k(5,root_ref,300),name,'a').
state(1,k(5,root_ref,300),link,k(300,root_item,97)).
change(1,k(300,root_backref,5),object,null,present).
change(1,k(300,root_backref,5),dirid,null,256).
change(1,k(300,root_backref,5),sequence,null,2).
change(1,k(300,root_backref,5),name,null,'a').
change(1,k(300,root_backref,5),link,null,k(300,root_item,97)).
object(1,k(300,root_backref,5)).
state(1,k(300,root_backref,5),dirid,256).
state(1,k(300,root_backref,5),sequence,2).
state(1,k(300,root_backref,5),name,'a').
state(1,k(300,root_backref,5),link,k(300,root_item,97)).
change(5,k(256,dir_index,2),object,null,present).
change(5,k(256,dir_index,2),location,null,k(300,root_item,-1)).
change(5,k(256,dir_index,2),type,null,s_ifdir).
change(5,k(256,dir_index,2),name,null,'a').
change(5,k(256,dir_index,2),link,null,k(300,root_item,97)).
object(5,k(256,dir_index,2)).
state(5,k(256,dir_index,2),location,k(300,root_item,-1)).
state(5,k(256,dir_index,2),type,s_ifdir).
state(5,k(256,dir_index,2),name,'a').
state(5,k(256,dir_index,2),link,k(300,root_item,97)).
change(5,k(256,dir_item,3427024844),object,null,present).
change(5,k(256,dir_item,3427024844),location,null,k(300,root_item,-1)).
change(5,k(256,dir_item,3427024844),type,null,s_ifdir).
change(5,k(256,dir_item,3427024844),name,null,'a').
change(5,k(256,dir_item,3427024844),link,null,k(300,root_item,97)).
object(5,k(256,dir_item,3427024844)).
state(5,k(256,dir_item,3427024844),location,k(300,root_item,-1)).
state(5,k(256,dir_item,3427024844),type,s_ifdir).
state(5,k(256,dir_item,3427024844),name,'a').
state(5,k(256,dir_item,3427024844),link,k(300,root_item,97)).

% The entry 'default' of the root tree leads to a subvolume, and no root_ref belongs to it.
change(1,k(6,dir_item,2378154706),object,null,present).
change(1,k(6,dir_item,2378154706),location,null,k(300,root_item,-1)).
change(1,k(6,dir_item,2378154706),type,null,s_ifdir).
change(1,k(6,dir_item,2378154706),name,null,'default').
change(1,k(6,dir_item,2378154706),link,null,k(300,root_item,5)).
object(1,k(6,dir_item,2378154706)).
state(1,k(6,dir_item,2378154706),location,k(300,root_item,-1)).
state(1,k(6,dir_item,2378154706),type,s_ifdir).
state(1,k(6,dir_item,2378154706),name,'default').
state(1,k(6,dir_item,2378154706),link,k(300,root_item,5)).

% A snapshot has the entry of a subvolume that was in its source.
object(1,k(301,root_item,9)).
state(1,k(301,root_item,9),refs,1).
change(1,k(301,root_item,9),object,null,present).
change(301,k(256,dir_index,2),object,null,present).
change(301,k(256,dir_index,2),location,null,k(300,root_item,-1)).
change(301,k(256,dir_index,2),type,null,s_ifdir).
change(301,k(256,dir_index,2),name,null,'a').
change(301,k(256,dir_index,2),link,null,k(300,root_item,97)).
object(301,k(256,dir_index,2)).
state(301,k(256,dir_index,2),location,k(300,root_item,-1)).
state(301,k(256,dir_index,2),type,s_ifdir).
state(301,k(256,dir_index,2),name,'a').
state(301,k(256,dir_index,2),link,k(300,root_item,97)).

% The entry existed before and is only written again.
change(302,k(256,dir_index,2),object,present,present).
change(302,k(256,dir_index,2),transid,8,9).
object(302,k(256,dir_index,2)).
state(302,k(256,dir_index,2),transid,9).
state(302,k(256,dir_index,2),type,s_ifdir).
state(302,k(256,dir_index,2),link,k(300,root_item,97)).

% The entry of a file beside it, and the subvolume's own, are written again.
change(5,k(256,dir_index,7),object,present,present).
change(5,k(256,dir_index,7),transid,8,9).
object(5,k(256,dir_index,7)).
state(5,k(256,dir_index,7),transid,9).
state(5,k(256,dir_index,7),type,s_ifreg).
state(5,k(256,dir_index,7),link,k(270,inode_item,98)).
expect_none.
