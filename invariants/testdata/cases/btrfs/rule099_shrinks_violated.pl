% A subvolume shrinks by less than its one exclusive block that is freed.
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
object(1,k(257,root_item,0)).
state(1,k(257,root_item,0),refs,1).
object(1,k(258,root_item,0)).
state(1,k(258,root_item,0),refs,1).
change(256,k(257,extent_data,0),object,present,null).
change(256,k(257,extent_data,0),disk_bytenr,1048576,null).
change(256,k(257,extent_data,0),disk_num_bytes,1048576,null).
change(2,k(30408704,metadata_item,0),object,present,null).
change(2,k(30408704,metadata_item,0),refs,1,null).
change(2,k(30408704,tree_block_ref,256),object,present,null).
change(8,k(0,qgroup_info,256),object,present,present).
change(8,k(0,qgroup_info,256),rfer,1048576,1036288).
object(8,k(0,qgroup_info,256)).
state(8,k(0,qgroup_info,256),rfer,1036288).
expect(99, 8, k(0,qgroup_info,256)).
