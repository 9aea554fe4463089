% A quota group has no qgroup_limit.
rule(62).
change(8,k(0,qgroup_info,256),object,null,present).
object(8,k(0,qgroup_info,256)).
expect(62, 8, k(0,qgroup_info,256)).
