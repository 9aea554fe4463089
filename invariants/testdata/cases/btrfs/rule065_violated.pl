% A new subvolume has no quota group.
rule(65).
change(1,k(256,root_item,0),object,null,present).
object(1,k(256,root_item,0)).
state(1,k(256,root_item,0),refs,1).
object(8,k(0,qgroup_status,0)).
state(8,k(0,qgroup_status,0),f(flags,on),1).
expect(65, 1, k(256,root_item,0)).
