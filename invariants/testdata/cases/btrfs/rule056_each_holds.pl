% A subvolume is being dropped, and its root directory is removed. Another is dropped completely,
% and its root item is written for the last time.
rule(56).
object(1,k(300,root_item,0)).
state(1,k(300,root_item,0),refs,0).
change(300,k(256,inode_item,0),object,present,null).
change(1,k(301,root_item,0),object,present,present).
change(1,k(301,root_item,0),root_dirid,0,256).
object(1,k(301,root_item,0)).
state(1,k(301,root_item,0),root_dirid,256).
state(1,k(301,root_item,0),refs,0).

% An inode that is not a root directory is removed. A tree without files is created.
object(1,k(302,root_item,0)).
state(1,k(302,root_item,0),refs,1).
change(302,k(257,inode_item,0),object,present,null).
change(1,k(9,root_item,0),object,null,present).
change(1,k(9,root_item,0),root_dirid,null,0).
change(1,k(9,root_item,0),refs,null,1).
object(1,k(9,root_item,0)).
state(1,k(9,root_item,0),root_dirid,0).
state(1,k(9,root_item,0),refs,1).
expect_none.
