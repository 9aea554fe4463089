% rfer grows by a sector, and rfer_cmpr does not.
rule(67).
change(8,k(0,qgroup_info,256),object,present,present).
change(8,k(0,qgroup_info,256),rfer,4096,8192).
state(8,k(0,qgroup_info,256),rfer,8192).
state(8,k(0,qgroup_info,256),rfer_cmpr,4096).
state(8,k(0,qgroup_info,256),excl,4096).
state(8,k(0,qgroup_info,256),excl_cmpr,4096).
state(8,k(0,qgroup_status,0),flags,1).
expect(67, 8, k(0,qgroup_info,256)).
