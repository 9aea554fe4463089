% A relation of a group that does not exist; one between two groups of level 1, and one between two
% of level 0.
rule(63).
change(8,k(256,qgroup_relation,281474976710663),object,null,present).
object(8,k(256,qgroup_relation,281474976710663)).
object(8,k(281474976710663,qgroup_relation,256)).
object(8,k(0,qgroup_info,281474976710664)).
object(8,k(0,qgroup_info,281474976710665)).
change(8,k(281474976710664,qgroup_relation,281474976710665),object,null,present).
object(8,k(281474976710664,qgroup_relation,281474976710665)).
object(8,k(281474976710665,qgroup_relation,281474976710664)).
object(8,k(0,qgroup_info,258)).
object(8,k(0,qgroup_info,259)).
change(8,k(258,qgroup_relation,259),object,null,present).
object(8,k(258,qgroup_relation,259)).
object(8,k(259,qgroup_relation,258)).
expect(63, 8, k(256,qgroup_relation,281474976710663)).
expect(63, 8, k(281474976710664,qgroup_relation,281474976710665)).
expect(63, 8, k(258,qgroup_relation,259)).

% One direction of a relation is removed; a group that is a member is removed.
change(8,k(260,qgroup_relation,281474976710663),object,present,null).
object(8,k(281474976710663,qgroup_relation,260)).
change(8,k(0,qgroup_info,261),object,present,null).
object(8,k(261,qgroup_relation,281474976710663)).
expect(63, 8, k(281474976710663,qgroup_relation,260)).
expect(63, 8, k(261,qgroup_relation,281474976710663)).
