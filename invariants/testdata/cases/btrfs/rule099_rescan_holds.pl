% A rescan is in progress.
rule(99).
object(8,k(0,qgroup_status,0)).
state(8,k(0,qgroup_status,0),flags,3).
state(8,k(0,qgroup_status,0),f(flags,on),1).
state(8,k(0,qgroup_status,0),f(flags,rescan),1).
state(8,k(0,qgroup_status,0),f(flags,inconsistent),0).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),nodesize,16384).
object(1,k(256,root_item,0)).
state(1,k(256,root_item,0),refs,1).
change(8,k(0,qgroup_info,256),object,present,present).
change(8,k(0,qgroup_info,256),rfer,1048576,16777216).
object(8,k(0,qgroup_info,256)).
state(8,k(0,qgroup_info,256),rfer,16777216).
expect_none.
