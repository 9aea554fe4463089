% Quota is off.
rule(65).
object(8,k(0,qgroup_status,0)).
state(8,k(0,qgroup_status,0),f(flags,on),0).
change(1,k(300,root_item,0),object,null,present).
change(1,k(300,root_item,0),refs,null,1).
object(1,k(300,root_item,0)).
state(1,k(300,root_item,0),refs,1).
expect_none.
