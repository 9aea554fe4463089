% A quota group is removed, and a relation beside it.
rule(62).
change(8,k(0,qgroup_limit,256),object,present,null).
change(8,k(0,qgroup_info,256),object,present,null).
change(8,k(256,qgroup_relation,281474976710663),object,present,null).
expect_none.
