% The excl of a quota group equals its rfer.
rule(64).
change(8,k(0,qgroup_info,256),object,present,present).
change(8,k(0,qgroup_info,256),excl,16384,32768).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),sectorsize,4096).
object(8,k(0,qgroup_status,0)).
state(8,k(0,qgroup_status,0),f(flags,on),1).
state(8,k(0,qgroup_status,0),f(flags,rescan),0).
state(8,k(0,qgroup_status,0),f(flags,inconsistent),0).
object(8,k(0,qgroup_info,256)).
state(8,k(0,qgroup_info,256),rfer,32768).
state(8,k(0,qgroup_info,256),excl,32768).
expect_none.
