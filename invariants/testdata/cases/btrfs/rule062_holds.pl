% A quota group has a qgroup_info and a qgroup_limit.
rule(62).
change(8,k(0,qgroup_info,256),object,null,present).
object(8,k(0,qgroup_info,256)).
object(8,k(0,qgroup_limit,256)).
expect_none.
