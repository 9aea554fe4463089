% The rfer of a quota group of a higher level is not a multiple of sectorsize.
rule(64).
change(8,k(0,qgroup_info,281474976710656),object,present,present).
change(8,k(0,qgroup_info,281474976710656),excl,16384,32769).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),sectorsize,4096).
object(8,k(0,qgroup_status,0)).
state(8,k(0,qgroup_status,0),f(flags,on),1).
state(8,k(0,qgroup_status,0),f(flags,rescan),0).
state(8,k(0,qgroup_status,0),f(flags,inconsistent),0).
object(8,k(0,qgroup_info,281474976710656)).
state(8,k(0,qgroup_info,281474976710656),rfer,32768).
state(8,k(0,qgroup_info,281474976710656),excl,32769).
expect(64, 8, k(0,qgroup_info,281474976710656)).
