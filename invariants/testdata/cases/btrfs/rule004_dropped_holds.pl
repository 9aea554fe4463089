% A subvolume is deleted: its names are removed and refs becomes 0. The root item of another
% subvolume, which was dropped before, is removed.
rule(4).
change(1,k(300,root_item,0),object,present,present).
change(1,k(300,root_item,0),refs,1,0).
object(1,k(300,root_item,0)).
state(1,k(300,root_item,0),refs,0).
change(1,k(5,root_ref,300),object,present,null).
change(1,k(5,root_ref,300),dirid,256,null).
change(1,k(5,root_ref,300),sequence,2,null).
change(1,k(300,root_backref,5),object,present,null).
change(1,k(300,root_backref,5),dirid,256,null).
change(1,k(300,root_backref,5),sequence,2,null).
change(5,k(256,dir_index,2),object,present,null).
change(5,k(256,dir_index,2),location,k(300,root_item,-1),null).
change(5,k(256,dir_item,3427024844),object,present,null).
change(5,k(256,dir_item,3427024844),location,k(300,root_item,-1),null).
change(1,k(301,root_item,0),object,present,null).
change(1,k(301,root_item,0),refs,0,null).

% A tree that is not a subvolume is created.
change(1,k(9,root_item,0),object,null,present).
change(1,k(9,root_item,0),refs,null,1).
object(1,k(9,root_item,0)).
state(1,k(9,root_item,0),refs,1).
expect_none.
