% A subvolume gets a name and another subvolume loses one, while their refs do not change.
rule(2).
change(1,k(300,root_backref,5),object,null,present).
object(1,k(300,root_backref,5)).
change(1,k(301,root_backref,5),object,present,null).
expect(2, 1, k(300,root_backref,5)).
expect(2, 1, k(301,root_backref,5)).

% The subvolumes with the lowest and the highest number: refs grows without a name.
change(1,k(256,root_item,7),object,present,present).
change(1,k(256,root_item,7),refs,1,2).
object(1,k(256,root_item,7)).
state(1,k(256,root_item,7),refs,2).
change(1,k(18446744073709551359,root_item,7),object,present,present).
change(1,k(18446744073709551359,root_item,7),refs,1,2).
object(1,k(18446744073709551359,root_item,7)).
state(1,k(18446744073709551359,root_item,7),refs,2).
expect(2, 1, k(256,root_item,7)).
expect(2, 1, k(18446744073709551359,root_item,7)).
