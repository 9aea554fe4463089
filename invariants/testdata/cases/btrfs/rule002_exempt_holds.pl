% Trees that are not subvolumes have refs and no names: the UUID tree and the relocation tree are
% created.
rule(2).
change(1,k(9,root_item,0),object,null,present).
change(1,k(9,root_item,0),refs,null,1).
object(1,k(9,root_item,0)).
state(1,k(9,root_item,0),refs,1).
change(1,k(-8,root_item,256),object,null,present).
change(1,k(-8,root_item,256),refs,null,1).
object(1,k(-8,root_item,256)).
state(1,k(-8,root_item,256),refs,1).
change(1,k(255,root_item,0),object,null,present).
change(1,k(255,root_item,0),refs,null,1).
object(1,k(255,root_item,0)).
state(1,k(255,root_item,0),refs,1).
change(1,k(18446744073709551360,root_item,0),object,null,present).
change(1,k(18446744073709551360,root_item,0),refs,null,1).
object(1,k(18446744073709551360,root_item,0)).
state(1,k(18446744073709551360,root_item,0),refs,1).

% A subvolume is moved: one name is removed, another is added, and refs does not change.
change(1,k(260,root_backref,257),object,null,present).
object(1,k(260,root_backref,257)).
change(1,k(260,root_backref,5),object,present,null).
expect_none.
