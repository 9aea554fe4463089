% A tree that is not a subvolume is created, and a subvolume that is deleted in the same commit.
rule(65).
object(8,k(0,qgroup_status,0)).
state(8,k(0,qgroup_status,0),f(flags,on),1).
change(1,k(9,root_item,0),object,null,present).
change(1,k(9,root_item,0),refs,null,1).
object(1,k(9,root_item,0)).
state(1,k(9,root_item,0),refs,1).
change(1,k(300,root_item,0),object,null,present).
change(1,k(300,root_item,0),refs,null,0).
object(1,k(300,root_item,0)).
state(1,k(300,root_item,0),refs,0).
expect_none.
