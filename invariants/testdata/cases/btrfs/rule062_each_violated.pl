% A quota group gets a qgroup_limit and has no qgroup_info; one loses its qgroup_limit, and one its
% qgroup_info.
rule(62).
change(8,k(0,qgroup_limit,256),object,null,present).
object(8,k(0,qgroup_limit,256)).
change(8,k(0,qgroup_limit,257),object,present,null).
object(8,k(0,qgroup_info,257)).
change(8,k(0,qgroup_info,258),object,present,null).
object(8,k(0,qgroup_limit,258)).
expect(62, 8, k(0,qgroup_limit,256)).
expect(62, 8, k(0,qgroup_info,257)).
expect(62, 8, k(0,qgroup_limit,258)).
