% A snapshot is being dropped: extents that it alone shared with a subvolume become exclusive to the
% subvolume.
rule(99).
object(8,k(0,qgroup_status,0)).
state(8,k(0,qgroup_status,0),flags,1).
state(8,k(0,qgroup_status,0),f(flags,on),1).
state(8,k(0,qgroup_status,0),f(flags,rescan),0).
state(8,k(0,qgroup_status,0),f(flags,inconsistent),0).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),nodesize,16384).
object(1,k(256,root_item,0)).
state(1,k(256,root_item,0),refs,1).
change(8,k(0,qgroup_info,256),object,present,present).
change(8,k(0,qgroup_info,256),excl,16777216,16384).
object(8,k(0,qgroup_info,256)).
state(8,k(0,qgroup_info,256),excl,16384).
object(1,k(-5,orphan_item,257)).
expect_none.
