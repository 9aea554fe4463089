% A subvolume is created without a reference.
rule(4).
change(1,k(300,root_item,0),object,null,present).
change(1,k(300,root_item,0),refs,null,1).
object(1,k(300,root_item,0)).
state(1,k(300,root_item,0),refs,1).
expect(4, 1, k(300,root_item,0)).

% Two subvolumes each lose one of their two references.
change(1,k(5,root_ref,301),object,present,null).
object(1,k(301,root_backref,5)).
change(1,k(302,root_backref,5),object,present,null).
object(1,k(5,root_ref,302)).
expect(4, 1, k(301,root_backref,5)).
expect(4, 1, k(5,root_ref,302)).

% Two entries lead to subvolumes that have no reference in this tree.
change(5,k(256,dir_index,9),object,null,present).
change(5,k(256,dir_index,9),location,null,k(303,root_item,-1)).
object(5,k(256,dir_index,9)).
state(5,k(256,dir_index,9),location,k(303,root_item,-1)).
change(5,k(256,dir_item,77),object,null,present).
change(5,k(256,dir_item,77),location,null,k(303,root_item,-1)).
object(5,k(256,dir_item,77)).
state(5,k(256,dir_item,77),location,k(303,root_item,-1)).
expect(4, 5, k(256,dir_index,9)).
expect(4, 5, k(256,dir_item,77)).
