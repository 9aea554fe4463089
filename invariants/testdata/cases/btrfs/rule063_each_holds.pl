% A relation is added, and another is removed with its group.
rule(63).
object(8,k(0,qgroup_info,256)).
object(8,k(0,qgroup_info,281474976710663)).
change(8,k(256,qgroup_relation,281474976710663),object,null,present).
object(8,k(256,qgroup_relation,281474976710663)).
change(8,k(281474976710663,qgroup_relation,256),object,null,present).
object(8,k(281474976710663,qgroup_relation,256)).
change(8,k(257,qgroup_relation,281474976710663),object,present,null).
change(8,k(281474976710663,qgroup_relation,257),object,present,null).
change(8,k(0,qgroup_info,257),object,present,null).
expect_none.
