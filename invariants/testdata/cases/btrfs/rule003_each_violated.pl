% The last name of a subvolume is removed, and there is no orphan item.
rule(3).
change(1,k(256,root_item,0),object,present,present).
change(1,k(256,root_item,0),refs,1,0).
object(1,k(256,root_item,0)).
state(1,k(256,root_item,0),refs,0).
expect(3, 1, k(256,root_item,0)).

% The orphan item of another subvolume is removed, and refs stays 0.
change(1,k(-5,orphan_item,257),object,present,null).
object(1,k(257,root_item,0)).
state(1,k(257,root_item,0),refs,0).
expect(3, 1, k(257,root_item,0)).
