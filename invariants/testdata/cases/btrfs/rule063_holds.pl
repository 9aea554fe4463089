% A quota group becomes a member of another, and the relation is recorded in both directions.
rule(63).
change(8,k(256,qgroup_relation,281474976710663),object,null,present).
object(8,k(256,qgroup_relation,281474976710663)).
object(8,k(0,qgroup_info,256)).
object(8,k(0,qgroup_info,281474976710663)).
object(8,k(281474976710663,qgroup_relation,256)).
expect_none.
