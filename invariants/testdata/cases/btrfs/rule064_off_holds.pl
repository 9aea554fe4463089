% Quota is off.
rule(64).
object(8,k(0,qgroup_status,0)).
state(8,k(0,qgroup_status,0),f(flags,on),0).
state(8,k(0,qgroup_status,0),f(flags,rescan),0).
state(8,k(0,qgroup_status,0),f(flags,inconsistent),0).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),sectorsize,4096).
object(1,k(256,root_item,0)).
state(1,k(256,root_item,0),refs,1).
change(8,k(0,qgroup_info,256),object,present,present).
change(8,k(0,qgroup_info,256),rfer,4096,8193).
object(8,k(0,qgroup_info,256)).
state(8,k(0,qgroup_info,256),rfer,8193).
state(8,k(0,qgroup_info,256),excl,16384).
expect_none.
