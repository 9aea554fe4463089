% The rfer of a group, or its excl, is not a multiple of sectorsize.
rule(64).
object(8,k(0,qgroup_status,0)).
state(8,k(0,qgroup_status,0),f(flags,on),1).
state(8,k(0,qgroup_status,0),f(flags,rescan),0).
state(8,k(0,qgroup_status,0),f(flags,inconsistent),0).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),sectorsize,4096).
change(8,k(0,qgroup_info,256),object,present,present).
change(8,k(0,qgroup_info,256),rfer,4096,8193).
object(8,k(0,qgroup_info,256)).
state(8,k(0,qgroup_info,256),rfer,8193).
state(8,k(0,qgroup_info,256),excl,4096).
change(8,k(0,qgroup_info,257),object,present,present).
change(8,k(0,qgroup_info,257),excl,4096,4097).
object(8,k(0,qgroup_info,257)).
state(8,k(0,qgroup_info,257),excl,4097).
state(8,k(0,qgroup_info,257),rfer,8192).
expect(64, 8, k(0,qgroup_info,256)).
expect(64, 8, k(0,qgroup_info,257)).
