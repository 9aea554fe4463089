% A quota group gets limits and has no use; one loses its limits, and one its use.
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
